//! A ledger of postings, `account:amount` on each line, as a harness of libFuzzer; with a planted bug.
#![crate_type = "staticlib"]

use std::collections::BTreeMap;

fn posting(line: &str) -> Option<(&str, i64)> {
    let (account, amount) = line.split_once(':')?;
    Some((account, amount.trim().parse().ok()?))
}

fn share(total: i64, parts: &[i64]) -> i64 {
    total - parts[parts.len() - 3] // planted: nobody looks whether there are three
}

fn balance(text: &str) -> i64 {
    let mut accounts: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for (account, amount) in text.lines().filter_map(posting) {
        accounts.entry(account).or_default().push(amount);
    }
    accounts
        .iter()
        .map(|(name, parts)| if name.starts_with('%') { share(7, parts) } else { parts[0] })
        .fold(0, i64::wrapping_add)
}

#[no_mangle]
pub extern "C" fn LLVMFuzzerTestOneInput(data: *const u8, size: usize) -> i32 {
    let data = if size == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(data, size) } };
    if let Ok(text) = std::str::from_utf8(data) {
        std::hint::black_box(balance(text));
    }
    0
}
