//! Corpus → assembler → decoder → printer → assembler: the same words.

use std::io::Write;
use std::process::{Command, Stdio};

use object::{Object, ObjectSection};
use softgpu::isa::{Family, Inst, decode, table};

/// The assembler, or `None` after saying that there is none.
fn assembler() -> Option<&'static str> {
    let found = ["llvm-mc-19", "llvm-mc"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success()));
    if found.is_none() {
        assert!(std::env::var_os("KREPLAY_NO_SKIP").is_none(), "llvm-mc is missing");
        println!("skipped: llvm-mc is missing");
    }
    found
}

/// Assembles text to the words of its code.
fn assemble(assembler: &str, text: &str) -> Vec<u32> {
    let mut child = Command::new(assembler)
        .args(["-arch=amdgcn", "-mcpu=gfx90a", "-filetype=obj", "-o", "-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the assembler starts");
    let mut input = child.stdin.take().expect("piped");
    let owned = text.to_owned();
    let writer = std::thread::spawn(move || input.write_all(owned.as_bytes()));
    let output = child.wait_with_output().expect("the assembler ends");
    writer.join().expect("the writer ends").expect("the assembler reads");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = object::File::parse(output.stdout.as_slice()).expect("an object file");
    let text = file.section_by_name(".text").expect("code").data().expect("data").to_vec();
    text.chunks(4).map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes"))).collect()
}

/// Decodes words one instruction after the other.
fn decode_all(words: &[u32]) -> Vec<Inst> {
    let mut instructions = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let inst = decode(&words[at..])
            .unwrap_or_else(|error| panic!("{:#010x?}: {error}", &words[at..(at + 2).min(words.len())]));
        at += inst.bytes as usize / 4;
        instructions.push(inst);
    }
    instructions
}

#[test]
fn every_instruction_survives_the_round_trip() {
    let Some(assembler) = assembler() else { return };
    let lines: Vec<&str> = include_str!("corpus.s").lines().filter(|line| !line.starts_with("//")).collect();
    let words = assemble(assembler, &lines.join("\n"));
    let instructions = decode_all(&words);
    assert_eq!(instructions.len(), lines.len(), "each line is one instruction");
    let printed: Vec<String> = instructions.iter().map(Inst::to_string).collect();
    let again = assemble(assembler, &printed.join("\n"));
    let mut at = 0;
    for ((inst, text), line) in instructions.iter().zip(&printed).zip(&lines) {
        let size = inst.bytes as usize / 4;
        assert_eq!(again.get(at..at + size), words.get(at..at + size), "{line} was printed as {text}");
        at += size;
    }
    assert_eq!(again, words);
}

#[test]
fn the_corpus_has_every_instruction_of_the_tables() {
    let Some(assembler) = assembler() else { return };
    let lines: Vec<&str> = include_str!("corpus.s").lines().filter(|line| !line.starts_with("//")).collect();
    let instructions = decode_all(&assemble(assembler, &lines.join("\n")));
    let mut missing = Vec::new();
    for family in Family::ALL {
        for row in table::rows_of(family) {
            let there = instructions.iter().any(|inst| inst.family == family && inst.op == row.code);
            if !there {
                missing.push(row.name);
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// Writes the fixtures of [`super::fixtures`] anew, when asked to.
#[test]
#[ignore = "run it with --ignored after a change of the corpus or the printer"]
fn write_fixtures() {
    let assembler = assembler().expect("an assembler");
    let lines: Vec<&str> = include_str!("corpus.s").lines().filter(|line| !line.starts_with("//")).collect();
    let instructions = decode_all(&assemble(assembler, &lines.join("\n")));
    let text: String = instructions
        .iter()
        .step_by(3)
        .map(|inst| {
            let words: Vec<String> =
                inst.words[..inst.bytes as usize / 4].iter().map(|word| format!("{word:08x}")).collect();
            format!("{} | {inst}\n", words.join(" "))
        })
        .collect();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/isa/fixtures.txt");
    std::fs::write(path, text).expect("the fixtures can be written");
}
