//! A data set into the store, and the fit of every case of the run to it.

use super::dataset::Dataset;
use super::fit::{FitStatus, fit};
use super::request::{ImportReport, ImportRequest};
use crate::error::Result;
use crate::ingest::json_text;
use crate::store::RunWriter;

pub(super) fn join_dataset(
    writer: &RunWriter<'_>,
    request: &ImportRequest<'_>,
    dataset: &Dataset,
    report: &mut ImportReport,
) -> Result<()> {
    let path = dataset.path.to_string_lossy();
    if writer.join_dataset(&dataset.digest, &path, dataset.entries.len() as u64, request.now)? {
        for ((category, id), entry) in &dataset.entries {
            let truth = entry.ground_truth.as_ref().map(|truth| json_text(&truth.calls));
            writer.add_dataset_entry(
                &dataset.digest,
                (*category, id),
                &json_text(&entry.user_turns),
                truth.as_deref(),
                &json_text(&entry.held_out_tools),
                entry.return_turn,
            )?;
        }
    }
    for case in writer.unfitted_cases()? {
        let id = case.raw_id.as_deref().unwrap_or("(no id)");
        let entry = dataset.entries.get(&(case.category, id.to_owned()));
        let turns = usize::try_from(case.turns).unwrap_or(usize::MAX);
        let found = fit(entry, id, turns, case.logged.as_deref());
        writer.add_fit(case.case_row, &dataset.digest, found.status.as_str(), found.reason.as_deref())?;
        report.fits[found.status as usize] += 1;
        if matches!(found.status, FitStatus::Mismatch | FitStatus::Absent) {
            report.unjoined.push((id.to_owned(), found.reason.unwrap_or_default()));
        }
    }
    Ok(())
}
