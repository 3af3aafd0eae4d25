//! Whatever bytes are read as a ledger, the parser does not panic, both ways of reading agree, and
//! what is accepted survives a round trip and can be handed to an accountant.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tacita_accounting::{Accountant, Gdp, Ledger, Zcdp};

fuzz_target!(|text: &str| {
    let parsed = Ledger::from_json(text);
    assert_eq!(parsed.is_ok(), serde_json::from_str::<Ledger>(text).is_ok());
    if let Ok(ledger) = parsed {
        assert_eq!(Ledger::from_json(&ledger.to_json()).ok(), Some(ledger.clone()));
        assert_eq!(
            ledger.rounds_made(),
            ledger.rounds().iter().map(|round| round.times).sum::<u64>()
        );
        // Cheap accountants only; an error is an answer, a panic is not.
        let _ = Zcdp.epsilon(&ledger, 1e-5);
        let _ = Gdp.delta(&ledger, 1.0);
    }
});
