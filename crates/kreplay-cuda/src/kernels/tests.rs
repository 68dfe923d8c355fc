use super::*;
use std::process::Command;

#[test]
fn the_text_has_the_kernels_and_a_low_version() {
    let text = PTX.to_str().expect("PTX is ASCII");
    assert!(text.is_ascii());
    assert!(text.contains(".version 7.0\n") && text.contains(".target sm_70\n") && text.contains(".address_size 64\n"));
    for kernel in [COPY, COMPARE, SYNCHRONISE, HASH, LOOK, TAKE, GIVE, DIGEST] {
        assert!(text.contains(&format!(".visible .entry {}(", kernel.to_str().expect("ASCII"))), "{kernel:?}");
    }
    // 128-bit accesses on both sides, and no call, local memory or external symbol.
    assert!(text.matches("ld.global.v4").count() >= 32, "the loads are 128 bits wide");
    assert!(text.matches("st.global.v4").count() >= 16, "the stores are 128 bits wide");
    let hash = text
        .split_once(".entry kreplay_hash(")
        .and_then(|(_, rest)| rest.split_once(".entry "))
        .expect("it is there")
        .0;
    assert_eq!(hash.matches("+3584]").count(), 1, "every 128 bits are loaded once");
    for absent in [".extern", "call", ".local", "ld.local"] {
        assert!(!text.contains(absent), "{absent} in the PTX text");
    }
}

#[test]
fn the_text_is_what_the_compiler_makes_of_the_source() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src/kernels/replay.c");
    let arguments = "--target=nvptx64-nvidia-cuda -march=sm_70 -Xclang -target-feature -Xclang +ptx70 \
                     --cuda-path=/nonexistent -nostdlib -ffreestanding -O3 -S -x c -o -";
    let made = Command::new("clang-19").args(arguments.split_whitespace()).arg(source).output();
    let Ok(made) = made else {
        assert!(std::env::var_os("KREPLAY_NO_SKIP").is_none(), "this test needs clang-19");
        return println!("skipped: there is no clang-19");
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert_eq!(
        String::from_utf8_lossy(&made.stdout),
        PTX.to_str().expect("ASCII"),
        "run the command in kernels/mod.rs"
    );
}

/// The vendor's assembler, where one is at hand: the driver has the same one inside.
#[test]
fn the_assembler_takes_the_text() {
    let assembler = std::env::var_os("KREPLAY_PTXAS").unwrap_or_else(|| "ptxas".into());
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("replay.ptx");
    std::fs::write(&source, PTX.to_bytes()).expect("write the text");
    for chip in ["sm_75", "sm_90"] {
        let made = Command::new(&assembler)
            .args([format!("-arch={chip}"), "-v".into(), "-o".into()])
            .args([folder.path().join(chip), source.clone()])
            .output();
        let Ok(made) = made else {
            assert!(std::env::var_os("KREPLAY_NO_SKIP").is_none(), "this test needs ptxas; set KREPLAY_PTXAS");
            return println!("skipped: there is no ptxas; set KREPLAY_PTXAS");
        };
        let said = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "{said}");
        assert!(
            !said.contains("spill stores") || !said.replace(" 0 bytes spill stores", "").contains("bytes spill stores")
        );
    }
}

#[test]
fn tables_count_tiles_and_leave_empty_ranges_out() {
    let mut table = Table::default();
    table.push(0x1000, 0x9000, 1, 0);
    table.push(0x2000, 0xa000, 0, 1);
    table.push(0x3000, 0xb000, 2 * TILE_BYTES, 1);
    table.push(0x8000, 0xc000, TILE_BYTES + 1, 2);
    assert_eq!(table.entries().iter().map(|entry| entry.first_tile).collect::<Vec<_>>(), [0, 1, 3]);
    assert_eq!(table.tiles(), 5);
    assert_eq!(table.bytes().len(), 3 * 48);
    assert_eq!(table.bytes()[48..56], 0x3000u64.to_ne_bytes());
}
