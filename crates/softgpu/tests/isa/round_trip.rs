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

/// The words of a VOP1, VOP2 or VOPC instruction with a second word, which SDWA (249) or DPP (250) stands for.
fn short(family: Family, code: u16, form: u32) -> [u32; 2] {
    let (base, first) = match family {
        Family::Vop1 => (0x140, 0x7e00_0000 | 4 << 17),
        Family::Vop2 => (0x100, 4 << 17 | 6 << 9),
        _ => (0, 0x7c00_0000 | 6 << 9),
    };
    let op = u32::from(code - base);
    let op = match family {
        Family::Vop1 => op << 9,
        Family::Vop2 => op << 25,
        _ => op << 17,
    };
    let second = match (form, family) {
        (249, Family::Vop1) => 0x0006_0602,
        (249, Family::Vop2) => 0x0606_0602,
        (249, _) => 0x0606_0002,
        // A broadcast, which is all that there is for two dwords.
        _ => 0xff01_5102,
    };
    [first | op | form, second]
}

#[test]
fn forms_that_do_not_exist_are_refused_and_no_others() {
    let Some(assembler) = assembler() else { return };
    let mut cases = Vec::new();
    for family in [Family::Vop1, Family::Vop2, Family::Vopc] {
        // Without a source nothing says that there is a second word.
        for row in table::rows_of(family).iter().filter(|row| row.src[0] != 0) {
            cases.extend([249, 250].map(|form| (row.name, form, short(family, row.code, form))));
        }
    }
    let bytes = |words: &[u32; 2]| -> String {
        words.iter().flat_map(|word| word.to_le_bytes()).map(|byte| format!("{byte:#04x} ")).collect()
    };
    let text: String = cases.iter().map(|(_, _, words)| bytes(words) + "\n").collect();
    let mut child = Command::new(assembler)
        .args(["-triple=amdgcn", "-mcpu=gfx90a", "-disassemble"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the disassembler starts");
    let mut input = child.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("the disassembler ends");
    writer.join().expect("the writer ends").expect("the disassembler reads");
    let refused: std::collections::BTreeSet<usize> = String::from_utf8_lossy(&output.stderr)
        .lines()
        .filter(|line| line.contains("invalid instruction encoding"))
        .map(|line| line.split(':').nth(1).and_then(|number| number.parse::<usize>().ok()).expect("a line") - 1)
        .collect();
    assert!(!refused.is_empty() && refused.len() < cases.len());
    for (n, (name, form, words)) in cases.iter().enumerate() {
        // Words of a literal in place of the second one are another instruction.
        if name.contains("MADMK") || name.contains("MADAK") {
            continue;
        }
        assert_eq!(decode(words).is_err(), refused.contains(&n), "{name} {form}");
    }
    // A shift of two dwords.
    let [first, second] = short(Family::Vop2, table::vop2::V_FMAC_F64, 250);
    assert!(decode(&[first, second]).is_ok() && decode(&[first, second & !0x1ff00 | 0x11100]).is_err());
}
