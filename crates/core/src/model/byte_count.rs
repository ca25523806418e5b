//! Numbers of bytes as text.

/// Returns a number of bytes with a decimal unit, such as `1.5 GB`.
pub fn byte_count(bytes: u64) -> String {
    let units = [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)];
    match units.into_iter().find(|(_, size)| bytes >= *size) {
        Some((unit, size)) if bytes.is_multiple_of(size) => format!("{} {unit}", bytes / size),
        Some((unit, size)) => format!("{}.{} {unit}", bytes / size, bytes % size / (size / 10)),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_counts_are_formatted_with_decimal_units() {
        let table = [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (10_000_000_000, "10 GB")];
        for (bytes, text) in table {
            assert_eq!(byte_count(bytes), text);
        }
        assert_eq!(byte_count(2_049_999), "2.0 MB");
        assert_eq!(byte_count(2_500_000_000_000), "2.5 TB");
    }
}
