// Compares messages of the protocol with its published schema. Standard input has a line of JSON for
// each message: {"from": "client" | "agent", "message": …}. The argument is the folder with the npm
// packages. Prints each violation, and the number of messages that were compared.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const modules = process.argv[2];
const { default: Ajv } = createRequire(join(modules, "x"))("ajv/dist/2020.js");
const file = join(modules, "@agentclientprotocol/sdk/schema/v1/schema.json");
const schema = JSON.parse(readFileSync(file, "utf8"));
const ajv = new Ajv({ strict: false, validateFormats: false });
ajv.addSchema(schema, "acp");

// The type of the parameters or of the result of a method.
const types = new Map();
for (const [name, type] of Object.entries(schema.$defs)) {
  const method = type["x-method"];
  if (method) types.set(`${method} ${name.endsWith("Response") ? "result" : "params"}`, name);
}

let compared = 0;
const compare = (method, part, value, message) => {
  const type = types.get(`${method} ${part}`);
  if (!type) throw new Error(`the schema has no ${part} of ${method}`);
  compared += 1;
  const validate = ajv.getSchema(`acp#/$defs/${type}`);
  if (validate(value)) return;
  console.log(`${type}: ${ajv.errorsText(validate.errors)}: ${JSON.stringify(message)}`);
  process.exitCode = 1;
};

const methods = { client: new Map(), agent: new Map() };
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const { from, message } = JSON.parse(line);
  const other = from === "client" ? "agent" : "client";
  if (message.method) {
    if (message.id !== undefined) methods[from].set(message.id, message.method);
    compare(message.method, "params", message.params, message);
  } else if (message.error) {
    const validate = ajv.getSchema("acp#/$defs/Error");
    compared += 1;
    if (!validate(message.error)) {
      console.log(`Error: ${ajv.errorsText(validate.errors)}: ${line}`);
      process.exitCode = 1;
    }
  } else {
    compare(methods[other].get(message.id), "result", message.result, message);
  }
}
console.log(`${compared} messages compared`);
