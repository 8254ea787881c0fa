use std::collections::HashSet;

use kontor_kernel::Name;

use super::cell_list;

/// Tags of an item, each on its own line or separated by `|`, `,` or `;`. A separator inside a name is escaped with a
/// backslash.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TagNames(Vec<Name>);

/// Returns `true` if a sign separates names; a comma between digits is a decimal comma.
fn separates(before: &str, sign: char, after: &str) -> bool {
    let is_decimal = before.ends_with(|c: char| c.is_ascii_digit()) && after.starts_with(|c: char| c.is_ascii_digit());
    sign != ',' || !is_decimal
}

impl TagNames {
    /// Parses a text. A name that occurs twice, in any case, counts once.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut seen = HashSet::new();
        let mut names = Vec::new();
        for name in text
            .split(['\n', '\r'])
            .flat_map(|line| cell_list::parts(line, separates))
            .filter(|name| !name.trim().is_empty())
        {
            let name = Name::parse(&name).map_err(|error| format!("each tag {error}"))?;
            if seen.insert(name.key()) {
                names.push(name);
            }
        }
        Ok(Self(names))
    }

    /// Returns the names in the order of the text.
    pub fn names(&self) -> &[Name] {
        &self.0
    }

    /// Returns the text that [`TagNames::parse`] reads.
    pub(super) fn text_of<'a>(names: impl Iterator<Item = &'a Name>) -> String {
        let names: Vec<String> = names.map(|name| cell_list::escaped(name, separates)).collect();
        names.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        TagNames::parse(text).unwrap().names().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn tags_are_read_back_as_they_were_written() {
        for tags in [
            vec!["Hit", "2 | 3", "a/b"],
            vec!["365"],
            vec!["x \\", "y \\| z", "|", "\\"],
            vec!["a, b", "2,5 l", "c;", ",", "d\\,"],
            vec![],
        ] {
            let given: Vec<Name> = tags.iter().map(|name| Name::parse(name).unwrap()).collect();
            assert_eq!(names(&TagNames::text_of(given.iter())), tags);
        }
    }

    #[test]
    fn tags_are_split_at_the_usual_separators() {
        assert_eq!(names(" Hit|Sale \r\n\n new | HIT |"), ["Hit", "Sale", "new"]);
        assert_eq!(names("Hit, Sale; new,2,5 l"), ["Hit", "Sale", "new", "2,5 l"]);
        assert_eq!(names(" | , "), [""; 0]);
        assert!(TagNames::parse(&"x".repeat(256)).is_err());
        assert!(TagNames::parse("Hit|a\u{7}b").is_err());
    }
}
