//! Device kernels that are committed as code objects, so that nobody needs a device compiler to build or run.
//!
//! Each is one HIP source without any header or device library, compiled for one chip. The same compiler gives the same
//! bytes wherever the tree lies: the compiler puts no path, time or identifier of the file into them.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::r#gen::Mode;
use crate::shell;

/// The compiler that the committed code objects come from. Another one gives other bytes, so the comparison needs it.
pub(crate) const COMPILER: &str = "Debian clang version 19.1.7 (3~deb12u1)";

/// One source, compiled for several chips.
pub(crate) struct CodeObject {
    /// The source, from the workspace's root.
    pub(crate) source: &'static str,
    /// The chips, as the compiler names them.
    pub(crate) chips: &'static [&'static str],
    /// The code object, from the workspace's root; `{chip}` stands for the chip.
    pub(crate) output: &'static str,
}

/// The code objects of the workspace.
pub(crate) const ALL: &[CodeObject] = &[
    CodeObject { source: "demo/kernels/demo.hip", chips: &["gfx90a"], output: "demo/kernels/demo-{chip}.co" },
    CodeObject {
        source: "crates/kreplay-hsa/kernels/memory.hip",
        chips: &["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"],
        output: "crates/kreplay-hsa/kernels/memory-{chip}.co",
    },
    CodeObject {
        source: "crates/kreplay-hsa/kernels/conformance.hip",
        chips: &["gfx90a"],
        output: "crates/kreplay-hsa/kernels/conformance-{chip}.co",
    },
];

/// What became of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checked {
    /// Every code object is what its source gives.
    Same,
    /// The compiler is not here, or is another one; says which.
    Skipped,
}

/// Rebuilds every code object: writes them, or compares them with the committed ones.
///
/// # Errors
/// When a source does not compile, and in [`Mode::Check`] when a committed code object is not what its source gives.
/// In [`Mode::Write`] also when the compiler is not [`COMPILER`].
pub(crate) fn run(mode: Mode) -> Result<Checked> {
    if let Err(why) = check_compiler() {
        if mode == Mode::Write {
            return Err(why);
        }
        println!("skipped: code objects were not compared with their sources: {why:#}");
        return Ok(Checked::Skipped);
    }
    let work = shell::target().join("code-objects");
    std::fs::create_dir_all(&work).with_context(|| format!("{} could not be made", work.display()))?;
    for object in ALL {
        for chip in object.chips {
            let output = shell::root().join(object.output.replace("{chip}", chip));
            let built = work.join(format!("{chip}.co"));
            compile(object.source, chip, &built)?;
            let bytes = std::fs::read(&built)?;
            mode.apply("gen", &output, &bytes)?;
        }
    }
    Ok(Checked::Same)
}

fn check_compiler() -> Result<()> {
    let version = shell::output(Command::new("clang-19").arg("--version"))
        .context("clang-19 is not here; on Debian 12 it comes with `apt-get install clang-19 lld-19`")?;
    let found = version.lines().next().unwrap_or_default();
    if found != COMPILER {
        bail!("the compiler is \"{found}\"; the committed code objects come from \"{COMPILER}\"");
    }
    if !shell::has("ld.lld-19", "--version") {
        bail!("ld.lld-19 is not here; on Debian 12 it comes with `apt-get install lld-19`");
    }
    Ok(())
}

/// Compiles one source for one chip. It runs in the source's own folder, and gives the compiler nothing but the file's
/// name, so that no path gets into the code object.
fn compile(source: &str, chip: &str, output: &Path) -> Result<()> {
    let source = shell::root().join(source);
    let (Some(folder), Some(name)) = (source.parent(), source.file_name()) else {
        bail!("{} has no folder", source.display());
    };
    let mut compiler = Command::new("clang-19");
    compiler
        .current_dir(folder)
        .args(["-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "-fuse-cuid=none"])
        .args(["-nogpuinc", "-nogpulib", "-fno-ident", "-O2", "-std=c++17", "-Wall", "-Wextra", "-Werror"])
        .args(["-mcode-object-version=4", "-fuse-ld=lld"])
        .arg(format!("--offload-arch={chip}"))
        .arg(name)
        .arg("-o")
        .arg(output);
    shell::output(&mut compiler).with_context(|| format!("{} does not compile for {chip}", source.display()))?;
    Ok(())
}
