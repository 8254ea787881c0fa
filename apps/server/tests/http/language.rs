//! Plain language, as far as a test can keep it: summaries of operations, and words that comments avoid.

use std::path::Path;

use crate::description_lint::{api, operations};
use crate::support::sources;

/// Verbs that summaries of operations begin with.
const VERBS: &str = "Activate Add Approve Archive Assign Ban Calculate Cancel Change Charge Check Confirm Consume Create \
    Deactivate Decline Delete Download Enable Exchange Export Get Import Introspect List Log Move Pause Place \
    Record Redeem Refuse Release Remove Replace Request Resend Resume Retry Review Revoke Rotate Save \
    Search Send Set Skip Start Unban Update Upload Verify";

/// First words of doc comments that turn a description into a riddle.
const QUESTIONS: [&str; 8] = ["What", "Who", "Whose", "Whom", "Where", "When", "Whether", "How"];

/// Words that comments do not use.
const AVOIDED: [&str; 10] =
    ["nobody", "somebody", "everybody", "whoever", "told", "tells", "stands", "he", "his", "him"];

#[test]
fn summaries_begin_with_a_verb() {
    let api = api();
    let (mut seen, mut wrong) = (0, Vec::new());
    for (name, operation) in operations(&api, "paths") {
        seen += 1;
        let summary = operation["summary"].as_str().unwrap_or_default();
        let verb = summary.split(' ').next().unwrap_or_default();
        if !VERBS.split(' ').any(|known| known == verb) || summary.chars().count() > 70 || summary.ends_with('.') {
            wrong.push(format!("{name}: {summary}"));
        }
    }
    assert!(seen > 300, "{seen}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Reasons why a comment is not plain, if it is one.
fn faults(line: &str) -> Option<&'static str> {
    let comment = line.trim_start().strip_prefix("//")?;
    let is_doc = comment.starts_with(['/', '!']);
    let text = comment.trim_start_matches(['/', '!']);
    if is_doc && QUESTIONS.iter().any(|word| text.trim_start().split(' ').next() == Some(*word)) {
        return Some("begins with a question word");
    }
    // Names of identifiers are quoted.
    let prose: String = text.split('`').step_by(2).collect();
    let mut words = prose.split(|sign: char| !sign.is_alphabetic());
    words.any(|word| AVOIDED.contains(&word.to_lowercase().as_str())).then_some("uses an avoided word")
}

#[test]
fn comments_are_plain() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = ["apps", "crates"].into_iter().flat_map(|folder| sources(&root.join(folder)));
    let (mut seen, mut wrong) = (0, Vec::new());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate() {
            seen += usize::from(line.trim_start().starts_with("//"));
            if let Some(fault) = faults(line) {
                wrong.push(format!("{}:{}: {fault}", file.display(), number + 1));
            }
        }
    }
    assert!(seen > 10_000, "{seen}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(faults("/// How many there are."), Some("begins with a question word"));
    assert_eq!(faults("// Nobody waits."), Some("uses an avoided word"));
    assert_eq!(faults("    /// Returns `told`, the last notice."), None);
}
