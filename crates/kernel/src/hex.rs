//! Bytes as text.

/// Encodes bytes as lower-case hexadecimal, two digits per byte.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| value + if value < 10 { b'0' } else { b'a' - 10 };
    let digits = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
    String::from_utf8(digits).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_byte_has_two_digits() {
        assert_eq!(super::hex(&[0x00, 0x09, 0x0a, 0x90, 0xa0, 0xff]), "00090a90a0ff");
        assert_eq!(super::hex(&[]), "");
    }
}
