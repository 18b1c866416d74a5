//! The shared folder with real run files, beside the repository here and in CI; it does not exist on a user's machine.

use std::path::PathBuf;

/// The folder; `None` where it is missing, which is an error in CI.
pub fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("DUALRATER_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("CI").is_none(), "{} is missing; CI must not skip this test", folder.display());
    eprintln!("note: {} is missing, the test on real files is left out", folder.display());
    None
}

/// A file or folder below it; missing like the folder itself.
pub fn path(below: &str) -> Option<PathBuf> {
    let path = folder()?.join(below);
    assert!(path.exists(), "{} is missing", path.display());
    Some(path)
}
