//! `docs/file.md` names every table and column of the schema, and the versions.

use kreplay_store::{APPLICATION_ID, SCHEMA, STORE_VERSION};

#[test]
fn every_table_and_column_is_documented() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/file.md");
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.contains(&format!("{APPLICATION_ID:#X}").replace("0X", "0x")));
    assert!(text.contains(&format!("the version of the format: **{STORE_VERSION}**")));
    let database = rusqlite::Connection::open_in_memory().unwrap();
    let mut missing = Vec::new();
    for (table, definition) in SCHEMA {
        database.execute(definition, []).unwrap();
        if !text.contains(&format!("{table} —"))
            && !text.contains(&format!("`{table}`"))
            && !text.contains(&format!("### {table}\n"))
        {
            missing.push((*table).to_owned());
        }
        let mut columns = database.prepare(&format!("SELECT name FROM pragma_table_info('{table}')")).unwrap();
        for column in columns.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap) {
            if !text.contains(&format!("`{column}`")) {
                missing.push(format!("{table}.{column}"));
            }
        }
    }
    assert!(missing.is_empty(), "docs/file.md says nothing of {missing:?}");
}
