//! Detection of guessable keys, which are usually not random.

/// Minimum number of different characters. A random key of 32 characters has more, even in hexadecimal digits.
const MIN_DISTINCT_CHARACTERS: usize = 9;
/// Longest accepted run of adjacent characters, such as `abcdef` or `54321`, or of equal ones.
const MAX_RUN: usize = 5;
/// Words in made-up keys that do not occur in random keys.
const WORDS: [&str; 10] = [
    "change-me",
    "changeme",
    "default",
    "development",
    "example",
    "kontor",
    "password",
    "production",
    "qwerty",
    "secret",
];

/// Returns the reason why a key is guessable, if any.
pub(super) fn weakness_of(key: &str) -> Option<String> {
    let characters: Vec<char> = key.chars().collect();
    let mut different = characters.clone();
    different.sort_unstable();
    different.dedup();
    if different.len() < MIN_DISTINCT_CHARACTERS {
        return Some(format!("has only {} different characters", different.len()));
    }
    let lower = key.to_lowercase();
    if let Some(word) = WORDS.iter().find(|word| lower.contains(**word)) {
        return Some(format!("contains `{word}`"));
    }
    if is_repeated(&characters) {
        return Some("repeats a shorter string".to_owned());
    }
    (longest_run(&characters) > MAX_RUN).then(|| "has sequential characters".to_owned())
}

/// Returns `true` if the key repeats a shorter text.
fn is_repeated(key: &[char]) -> bool {
    (1..=key.len() / 2).any(|length| key.iter().zip(key.iter().skip(length)).all(|(one, other)| one == other))
}

/// Returns the length of the longest run in which each character is the next, the previous or the same as its neighbor.
fn longest_run(key: &[char]) -> usize {
    [1_i64, -1, 0]
        .into_iter()
        .map(|step| {
            let (mut longest, mut run) = (1, 1);
            for (one, next) in key.iter().zip(key.iter().skip(1)) {
                let follows = i64::from(u32::from(*next)) - i64::from(u32::from(*one)) == step;
                run = if follows { run + 1 } else { 1 };
                longest = longest.max(run);
            }
            longest
        })
        .max()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_typed_keys_are_weak() {
        for key in [
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "abababababababababababababababab",
            "correct-horse-battery-secret-key",
            "Change-Me-Change-Me-Change-Me-!!1",
            "0123456789abcdef0123456789abcdef",
            "k3Y9xQ2mZ7k3Y9xQ2mZ7k3Y9xQ2mZ7k3",
            "my own shop key 9876543210 2027!!",
            "zz1!zz2!zz3!zz4!zz1!zz2!zz3!zz4!",
        ] {
            assert!(weakness_of(key).is_some(), "{key}");
        }
    }

    #[test]
    fn random_keys_are_strong() {
        for key in [
            "d41c8f07b6a29e5330f1c7d9e84b62a5",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "q7VZ0m3tYp1rLx9sWc5dNf2hKb8jGg4u",
            "hT/+0kQm8xZ4vJr2Lw9sYb6nCd1eFg3p=",
        ] {
            assert_eq!(weakness_of(key), None, "{key}");
        }
    }
}
