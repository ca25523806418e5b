//! Draws the tasks of a plan.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A task of a plan, with the tasks that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    pub name: String,
    pub state: String,
    pub needs: Vec<String>,
}

/// Returns the tasks as indented lines: each task is one step further to the right than the last of
/// the tasks that it needs.
pub fn text_graph(nodes: &[GraphNode]) -> String {
    let depths = depths(nodes);
    let mut order: Vec<&GraphNode> = nodes.iter().collect();
    order.sort_by_key(|node| depths.get(node.name.as_str()).copied().unwrap_or_default());
    let mut text = String::new();
    for node in order {
        let indent = "  ".repeat(depths.get(node.name.as_str()).copied().unwrap_or_default());
        let needs = match node.needs.as_slice() {
            [] => String::new(),
            needs => format!("  ← {}", needs.join(", ")),
        };
        let _infallible = writeln!(text, "{indent}{} [{}]{needs}", node.name, node.state);
    }
    text
}

/// Returns the tasks as a graph in the language DOT.
pub fn dot_graph(name: &str, nodes: &[GraphNode]) -> String {
    let mut text = format!("digraph \"{name}\" {{\n  rankdir=LR;\n  node [shape=box];\n");
    for GraphNode { name, state, .. } in nodes {
        let color = color(state);
        let _infallible = writeln!(
            text,
            "  \"{name}\" [label=\"{name}\\n{state}\", style=filled, fillcolor=\"{color}\"];"
        );
    }
    for GraphNode { name, needs, .. } in nodes {
        for need in needs {
            let _infallible = writeln!(text, "  \"{need}\" -> \"{name}\";");
        }
    }
    text + "}\n"
}

fn color(state: &str) -> &'static str {
    match state {
        "done" => "palegreen",
        "failed" => "salmon",
        "running" | "queued" => "lightblue",
        "waiting" | "approval" => "khaki",
        "cancelled" | "skipped" => "lightgrey",
        _ => "white",
    }
}

/// Returns the length of the longest chain of needs of each task.
fn depths(nodes: &[GraphNode]) -> BTreeMap<&str, usize> {
    let mut unmet: BTreeMap<&str, usize> =
        nodes.iter().map(|node| (node.name.as_str(), node.needs.len())).collect();
    let mut dependants: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in nodes {
        node.needs.iter().for_each(|need| dependants.entry(need).or_default().push(&node.name));
    }
    let mut depths = BTreeMap::new();
    let mut free: Vec<(&str, usize)> =
        nodes.iter().filter(|it| it.needs.is_empty()).map(|it| (it.name.as_str(), 0)).collect();
    while let Some((name, depth)) = free.pop() {
        depths.entry(name).and_modify(|it: &mut usize| *it = (*it).max(depth)).or_insert(depth);
        let depth = depths.get(name).copied().unwrap_or(depth);
        for dependant in dependants.get(name).into_iter().flatten() {
            let deepest = depths.entry(dependant).or_default();
            *deepest = (*deepest).max(depth + 1);
            let Some(count) = unmet.get_mut(dependant) else { continue };
            *count -= 1;
            if *count == 0 {
                free.push((dependant, *deepest));
            }
        }
    }
    depths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, state: &str, needs: &[&str]) -> GraphNode {
        let needs = needs.iter().map(|it| (*it).to_owned()).collect();
        GraphNode { name: name.to_owned(), state: state.to_owned(), needs }
    }

    #[test]
    fn graph_lists_each_task_after_the_tasks_that_it_needs() {
        let nodes = [
            node("ship", "blocked", &["build", "test"]),
            node("build", "done", &[]),
            node("test", "running", &["build"]),
        ];
        let expected =
            "build [done]\n  test [running]  ← build\n    ship [blocked]  ← build, test\n";
        assert_eq!(text_graph(&nodes), expected);
        let dot = dot_graph("release", &nodes);
        assert!(dot.starts_with("digraph \"release\" {\n"), "{dot}");
        assert!(dot.contains("  \"build\" -> \"ship\";\n"), "{dot}");
        assert_eq!(dot.matches(" -> ").count(), 3);
    }
}
