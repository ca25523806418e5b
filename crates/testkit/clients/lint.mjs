// Checks an OpenAPI document with the recommended rules. Prints the problems, and fails if there is one.
import { createConfig, lint } from "@redocly/openapi-core";

const config = await createConfig({
  extends: ["recommended-strict"],
  rules: {
    // A daemon on the machine of the user has no public server.
    "no-server-example.com": "off",
    "info-license": "off",
    "info-license-strict": "off",
    // Two groups of paths exist on purpose: `/v1/tasks/list` beside `/v1/tasks/{id}`.
    "no-ambiguous-paths": "off",
    // Routes for programs on the same machine need no token.
    "security-defined": "error",
    "operation-operationId-unique": "error",
    "operation-description": "error",
    "parameter-description": "error",
    "tag-description": "off",
  },
});
const problems = await lint({ ref: process.argv[2], config });
for (const problem of problems) {
  console.error(`${problem.severity} ${problem.ruleId}: ${problem.message} at ${problem.location?.[0]?.pointer}`);
}
process.exit(problems.length === 0 ? 0 : 1);
