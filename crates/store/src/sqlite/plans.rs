//! Lists of plans and of their tasks.

use rusqlite::{Connection, params_from_iter};
use segue_core::model::{Plan, PlanTask};
use segue_core::ports::{PlanQuery, PlanTaskQuery};

use crate::sqlite::conditions::Conditions;
use crate::sqlite::read::all;
use crate::sqlite::rows;
use crate::sqlite::values::{Json, Location, Word};

pub(crate) fn list(connection: &Connection, query: &PlanQuery) -> rusqlite::Result<Vec<Plan>> {
    let mut conditions = Conditions::default();
    conditions.add_if("id = ?", query.id.as_ref().map(Word))?;
    if let Some(prefix) = &query.id_prefix {
        // `~` is greater than every character of an id.
        conditions.add("id BETWEEN ? AND ?", prefix)?;
        conditions.add_parameter(&format!("{prefix}~"))?;
    }
    conditions.add_if("name = ?", query.name.as_ref().map(Word))?;
    conditions.add_if("folder = ?", query.folder.as_deref().map(Location))?;
    conditions.add_if("control = ?", query.control.as_ref().map(Word))?;
    let sql = conditions.statement("SELECT detail FROM plans", "ORDER BY number");
    all(connection, &sql, params_from_iter(conditions.parameters), rows::json)
}

pub(crate) fn tasks(
    connection: &Connection,
    query: &PlanTaskQuery,
) -> rusqlite::Result<Vec<PlanTask>> {
    let (sql, conditions) = tasks_statement(query)?;
    all(connection, &sql, params_from_iter(conditions.parameters), rows::json)
}

fn tasks_statement(query: &PlanTaskQuery) -> rusqlite::Result<(String, Conditions)> {
    let mut conditions = Conditions::default();
    conditions.add("plan = ?", &Word(&query.plan))?;
    let names = query.names.as_ref().map(Json);
    conditions.add_if("name IN (SELECT value FROM json_each(?))", names)?;
    if let Some(need) = &query.needing {
        let sql = "name IN (SELECT task FROM plan_needs WHERE plan = ? AND need = ?)";
        conditions.add(sql, &Word(&query.plan))?;
        conditions.add_parameter(&Word(need))?;
    }
    conditions.add_if("state = ?", query.state.map(|state| state.word().to_owned()))?;
    let limit = query.first.map(|first| format!(" LIMIT {first}")).unwrap_or_default();
    let end = format!("ORDER BY rank, name{limit}");
    Ok((conditions.statement("SELECT detail FROM plan_tasks", &end), conditions))
}

#[cfg(test)]
mod tests {
    use segue_core::model::{PlanId, PlanTaskName, PlanTaskState};

    use super::*;
    use crate::sqlite::migrations;

    #[test]
    fn query_for_dependants_or_ready_tasks_scans_no_tasks() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrations::apply(&mut connection, migrations::ALL).unwrap();
        let plan: PlanId = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        let need = PlanTaskName::parse("design").unwrap();
        let all = PlanTaskQuery::of(plan);
        let queries = [
            PlanTaskQuery { needing: Some(need.clone()), ..all.clone() },
            PlanTaskQuery { names: Some(vec![need]), ..all.clone() },
            PlanTaskQuery { state: Some(PlanTaskState::Ready), first: Some(2), ..all },
        ];
        for query in queries {
            let (sql, conditions) = tasks_statement(&query).unwrap();
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let parameters = params_from_iter(conditions.parameters);
            let lines = statement.query_map(parameters, |row| row.get::<_, String>(3)).unwrap();
            let steps: Vec<String> = lines.map(Result::unwrap).collect();
            for step in &steps {
                // The rows of one plan are found by the whole key, or by their state.
                let is_whole_plan = step.contains("plan_tasks") && step.ends_with("(plan=?)");
                let is_scan = step.contains("SCAN plan");
                assert!(!is_whole_plan && !is_scan, "{query:?}: {steps:?}");
            }
        }
    }
}
