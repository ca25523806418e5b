//! The tables of `docs/mcp.md` have the tools of the MCP server.

use std::collections::BTreeMap;

use segue_mcp::ToolListing;

const PAGE: &str = include_str!("../../../../docs/mcp.md");

/// Returns the parameters of each tool in the table of the page, as the page writes them.
fn documented() -> BTreeMap<String, Vec<String>> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
    let tools = rows.filter_map(|row| {
        let (name, rest) = row.split_once("` | ")?;
        let (parameters, _) = rest.split_once(" | ")?;
        let parameters = parameters.split(", ").map(str::to_owned).collect();
        name.contains('_').then(|| (name.to_owned(), parameters))
    });
    tools.collect()
}

#[test]
fn page_lists_all_tools_with_their_parameters() {
    let parameters = |tool: ToolListing| {
        let written = tool.parameters.into_iter().map(|it| match it.is_required {
            true => format!("**`{}`**", it.name),
            false => format!("`{}`", it.name),
        });
        (tool.name.to_owned(), written.collect::<Vec<_>>())
    };
    let existing: BTreeMap<_, _> = segue_mcp::listing().into_iter().map(parameters).collect();
    assert_eq!(documented(), existing);
}
