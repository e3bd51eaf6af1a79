use crate::check_loop::{State, Verdict};
use crate::render::check_loop;

/// What `check-loop` writes is what is read.
#[test]
fn words_are_those_of_check_loop() {
    for (verdict, word) in crate::report::VERDICTS {
        assert_eq!(check_loop::verdict_word(verdict), word);
    }
    for (state, word) in crate::report::STATES {
        assert_eq!(check_loop::state_word(state), word);
    }
    let all = [Verdict::Loop, Verdict::WillLoop, Verdict::Refused];
    assert!(all.iter().all(|it| !super::verdict_word(*it).is_empty()));
    assert_eq!(super::state_word(State::Unknown), "unknown");
}
