use crate::Random;

/// Error: the text is not a file key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a file key must have {} letters and digits", FileKey::LENGTH)]
pub struct InvalidFileKey;

/// Key under which a file is stored: random letters and digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileKey(String);

impl FileKey {
    /// Number of letters and digits: 238 random bits.
    pub const LENGTH: usize = 40;

    /// Generates a random key.
    pub fn generate(random: &dyn Random) -> Self {
        Self(random.alphanumeric(Self::LENGTH))
    }

    /// Refuses other lengths and characters.
    pub fn parse(text: &str) -> Result<Self, InvalidFileKey> {
        let fits = text.len() == Self::LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidFileKey) }
    }
}

crate::wraps_text!(FileKey);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_letters_and_digits_of_one_length() {
        let key = "aZ09".repeat(10);
        assert_eq!(FileKey::parse(&key).map(|key| key.to_string()), Ok(key));
        for wrong in ["", "../../../../../../../../../../etc/passwd", "a", &"a".repeat(41), &"ё".repeat(20)] {
            assert_eq!(FileKey::parse(wrong), Err(InvalidFileKey), "{wrong}");
        }
    }

    #[test]
    fn a_new_key_is_a_key_and_its_own() {
        let random = crate::testing::CountingRandom::new();
        let (one, other) = (FileKey::generate(&random), FileKey::generate(&random));
        assert_eq!(FileKey::parse(one.as_str()), Ok(one.clone()));
        assert_ne!(one, other);
    }
}
