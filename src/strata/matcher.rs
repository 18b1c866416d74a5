//! Assignment at the speed of a table look-up: cases of one run that are alike in everything a condition can ask match
//! the same strata, so each kind of case is asked once.

use std::collections::BTreeMap;

use super::{Assigner, FrameCase};
use crate::model::{RunName, Verdict};

/// An [`Assigner`] that remembers its answers. Memory: one small table per run.
#[derive(Debug, Clone)]
pub struct Matcher<'a> {
    assigner: &'a Assigner<'a>,
    runs: BTreeMap<RunName, Answers>,
    found: Vec<usize>,
}

/// The answers for one run.
#[derive(Debug, Clone)]
struct Answers {
    model: String,
    condition: String,
    /// Per kind of case: the strata whose conditions hold, SQL conditions aside.
    known: Vec<Option<Box<[usize]>>>,
}

/// Category (4) × verdict (3) × transition (5) × gold action (2) × error record (2).
const KINDS: usize = 240;

impl<'a> Matcher<'a> {
    /// A matcher that knows nothing yet.
    #[must_use]
    pub fn new(assigner: &'a Assigner<'a>) -> Self {
        Self { assigner, runs: BTreeMap::new(), found: Vec::new() }
    }

    /// The assigner.
    #[must_use]
    pub fn assigner(&self) -> &'a Assigner<'a> {
        self.assigner
    }

    /// As [`Assigner::matching`].
    pub fn matching(&mut self, case: &FrameCase) -> &[usize] {
        self.found.clear();
        let answers = match self.runs.get_mut(&case.run) {
            Some(answers) => answers,
            None => self.runs.entry(case.run.clone()).or_insert_with(|| Answers {
                model: case.model.clone(),
                condition: case.condition.clone(),
                known: vec![None; KINDS],
            }),
        };
        // A run has one model and one condition; should a frame say otherwise, nothing is remembered for the odd case.
        let alike = answers.model == case.model && answers.condition == case.condition;
        match answers.known.get_mut(kind(case)).filter(|_| alike) {
            None => self.found.extend(self.assigner.matching(case)),
            Some(slot) => {
                let known = slot.get_or_insert_with(|| self.assigner.matching_filters(case).collect());
                self.found.extend(known.iter().filter(|index| self.assigner.meets_sql(**index, case)));
            }
        }
        &self.found
    }
}

/// A number below [`KINDS`] for everything a condition can ask within one run.
fn kind(case: &FrameCase) -> usize {
    let verdict = |verdict: Verdict| usize::from(verdict == Verdict::Pass);
    let outcome = case.verdict.map_or(2, verdict);
    let transition = case.transition.map_or(4, |change| 2 * verdict(change.from) + verdict(change.to));
    let flags = 2 * usize::from(case.gar_hit) + usize::from(case.error_record);
    ((case.category as usize * 3 + outcome) * 5 + transition) * 4 + flags
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::model::{CaseIdentity, Category, StratumId, Transition};
    use crate::strata::{Plan, SqlMatches, bind};

    /// Strata over everything that a condition can ask, overlapping on purpose.
    const PLAN: &str = "id='p'\ntitle='t'\n[runs]\na='r0'\nb='r1'\n[pairs]\na='b'\n\
        [[stratum]]\nid='T'\ntitle='t'\nquota=1\nfilter={run='a',transition=['PASS_to_FAIL','FAIL_to_FAIL']}\n\
        [[stratum]]\nid='M'\ntitle='m'\nquota=1\nfilter={any=[{model='m1'},{condition='c1',gar=true}]}\n\
        [[stratum]]\nid='U'\ntitle='u'\nquota=1\npriority=-1\nfilter={verdict=['UNSCORED','PASS'],category='miss_func'}\n\
        [[stratum]]\nid='E'\ntitle='e'\nquota=1\nfilter={error_record=true}\nwhere='x'\n\
        [[stratum]]\nid='R'\ntitle='r'\nquota=1\nwhere='y'\n";

    fn cases() -> impl Strategy<Value = Vec<FrameCase>> {
        let verdicts = || prop::sample::select(vec![None, Some(Verdict::Pass), Some(Verdict::Fail)]);
        let flags = (any::<bool>(), any::<bool>());
        let names = (0..3usize, 0..2usize, 0..2usize);
        let one = (names, prop::sample::select(Category::ALL.to_vec()), verdicts(), verdicts(), flags);
        prop::collection::vec(one, 0..80).prop_map(|rows| {
            let each = rows.into_iter().enumerate();
            each.map(|(number, ((run, model, condition), category, verdict, second, (gar_hit, error_record)))| {
                let run = RunName::parse(&format!("r{run}")).expect("valid");
                FrameCase {
                    identity: CaseIdentity::new(&run, &number.to_string()).expect("valid"),
                    run,
                    model: format!("m{model}"),
                    condition: format!("c{condition}"),
                    category,
                    verdict,
                    transition: verdict.zip(second).map(|(from, to)| Transition { from, to }),
                    gar_hit,
                    error_record,
                    drawable: true,
                }
            })
            .collect()
        })
    }

    proptest! {
        #[test]
        fn remembered_answers_are_those_of_the_assigner(cases in cases()) {
            let plan = Plan::parse("p.toml", PLAN).expect("valid");
            let bound = bind(&plan, &BTreeMap::new()).expect("binds");
            let every = |step| cases.iter().step_by(step).map(|case| case.identity.clone()).collect::<BTreeSet<_>>();
            let stratum = |id| StratumId::parse(id).expect("valid");
            let sql = SqlMatches::from([(stratum("E"), every(2)), (stratum("R"), every(3))]);
            let assigner = Assigner::new(&bound, &sql).expect("evaluated");
            let mut matcher = Matcher::new(&assigner);
            for case in cases.iter().chain(cases.iter().rev()) {
                prop_assert_eq!(matcher.matching(case), assigner.matching(case).collect::<Vec<_>>());
            }
        }
    }
}
