//! Finds BFCL's result and score files by their names, in a folder (recursively) or as a single file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, Place, Result};
use crate::model::Category;

/// The files of one kind, one per category.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FileSet {
    /// Category → file.
    pub files: BTreeMap<Category, PathBuf>,
}

/// Finds `BFCL_v[34]_multi_turn_<category>_<kind>*.json` under `path`, where kind is `result` or `score`.
///
/// # Errors
/// The path does not exist, holds no such file, or has two files for one category (both are named).
pub fn discover(path: &Path, kind: &str) -> Result<FileSet> {
    let mut found = Vec::new();
    let data = std::fs::metadata(path).map_err(|source| Error::io("read", path, &source))?;
    if data.is_dir() {
        walk(path, kind, &mut found)?;
    } else {
        found.push(path.to_path_buf());
    }
    found.sort();
    let mut set = FileSet::default();
    for file in found {
        let Some(category) = category_of(&file, kind) else { continue };
        if let Some(first) = set.files.get(&category) {
            return Err(Error::data(format!(
                "two {kind} files for {category} of one run: {} and {}",
                first.display(),
                file.display()
            ))
            .hint("give one run a folder of its own, or name a single file"));
        }
        set.files.insert(category, file);
    }
    if set.files.is_empty() {
        return Err(Error::data(format!("no {kind} file here"))
            .at(Place::file(path))
            .hint(format!("expected names such as BFCL_v4_multi_turn_base_{kind}.json")));
    }
    Ok(set)
}

fn walk(folder: &Path, kind: &str, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).map_err(|source| Error::io("list", folder, &source))?;
    for entry in entries {
        let entry = entry.map_err(|source| Error::io("list", folder, &source))?;
        let path = entry.path();
        let named = category_of(&path, kind).is_some();
        let is_folder = entry.file_type().map_err(|source| Error::io("read", &path, &source))?.is_dir();
        if named {
            // A folder or a dead link of this name would make a category vanish in silence.
            let data = std::fs::metadata(&path).map_err(|source| Error::io("read", &path, &source))?;
            if !data.is_file() {
                return Err(Error::data(format!("this has the name of a {kind} file and is none"))
                    .at(Place::file(&path))
                    .hint("remove it or name the right file"));
            }
            found.push(path);
        } else if is_folder {
            walk(&path, kind, found)?;
        }
    }
    Ok(())
}

/// The category in a file name of the given kind; `None` for any other file.
fn category_of(file: &Path, kind: &str) -> Option<Category> {
    let name = file.file_name()?.to_str()?;
    if !file.extension()?.eq_ignore_ascii_case("json") {
        return None;
    }
    let rest = name.strip_prefix("BFCL_v3_multi_turn_").or_else(|| name.strip_prefix("BFCL_v4_multi_turn_"))?;
    Category::ALL
        .into_iter()
        .find(|category| rest.strip_prefix(category.as_str()).is_some_and(|tail| tail.starts_with(&format!("_{kind}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_both_versions_and_suffixed_names_are_found() {
        let category = |name: &str, kind: &str| category_of(Path::new(name), kind);
        assert_eq!(category("BFCL_v3_multi_turn_miss_func_result.json", "result"), Some(Category::MissFunc));
        assert_eq!(category("x/BFCL_v4_multi_turn_base_result-no-glyphh.json", "result"), Some(Category::Base));
        assert_eq!(category("BFCL_v4_multi_turn_base_result.failed_only.json", "result"), Some(Category::Base));
        assert_eq!(category("BFCL_v4_multi_turn_long_context_score.json", "score"), Some(Category::LongContext));
        assert_eq!(category("BFCL_v4_multi_turn_base_score.json", "result"), None);
        assert_eq!(category("BFCL_v2_multi_turn_base_result.json", "result"), None);
        assert_eq!(category("BFCL_v4_multi_turn_base_log.json", "result"), None);
    }

    #[test]
    fn two_files_for_one_category_name_both() {
        let folder = tempfile::tempdir().expect("temp dir");
        std::fs::create_dir(folder.path().join("b")).expect("mkdir");
        for name in ["BFCL_v4_multi_turn_base_result.json", "b/BFCL_v3_multi_turn_base_result.json"] {
            std::fs::write(folder.path().join(name), "").expect("write");
        }
        let error = discover(folder.path(), "result").expect_err("two files");
        assert!(error.message().contains("BFCL_v4_multi_turn_base_result.json"), "{error}");
        assert!(error.message().contains("BFCL_v3_multi_turn_base_result.json"), "{error}");
    }
}
