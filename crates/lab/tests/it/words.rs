//! Synonyms and misspellings of keys.

use mptcp_lab::scenario::{Draft, Scenario, WORDS, nearest_word};

/// A scenario with one additional line in its path and in its flow.
fn with(path: &str, flow: &str) -> String {
    let text = format!(
        "duration = \"10s\"\n[paths.wifi]\nrate = \"8Mbit\"\n{path}\n[flows.bulk]\ntransport = \"mptcp\"\n{flow}\n"
    );
    Scenario::parse(&text, "words.toml").err().map_or_else(String::new, |error| error.to_string())
}

#[test]
fn another_word_for_a_key_is_understood() {
    for (word, key) in [
        ("latency", "delay"),
        ("bandwidth", "rate"),
        ("loss_rate", "loss"),
        ("packet-loss", "loss"),
        ("buffer", "queue"),
        ("mss", "mtu"),
        ("ping", "rtt"),
    ] {
        let message = with(&format!("{word} = \"1\""), "");
        let wanted = format!("words.toml:4: paths.wifi.{word}: unknown key; did you mean {key:?}?");
        assert!(message.starts_with(&wanted), "{message}");
    }
    for (word, key) in [
        ("cc", "congestion"),
        ("buffer", "rcvbuf"),
        ("mtu", "mss"),
        ("size", "bytes"),
        ("M2", "penalisation"),
        ("sched", "scheduler"),
    ] {
        let message = with("", &format!("{word} = \"1\""));
        let wanted = format!("words.toml:7: flows.bulk.{word}: unknown key; did you mean {key:?}?");
        assert!(message.starts_with(&wanted), "{message}");
    }
    let message = with("", "scheduler = \"lowest-rtt\"");
    assert!(message.contains("did you mean \"minrtt\"?"), "{message}");
    assert_eq!(nearest_word("latency", ["rate", "loss"]), None);
}

/// Each entry of the synonym table leads to a key or name of the schema.
#[test]
fn every_other_word_leads_to_something_of_the_schema() {
    let schema = mptcp_lab::scenario::json_schema().to_string();
    for (known, words) in WORDS {
        assert!(schema.contains(&format!("\"{known}\"")), "{known}");
        for word in *words {
            assert_eq!(word.to_lowercase().replace(['-', ' '], "_"), **word, "it would never be found");
        }
    }
}

#[test]
fn a_file_that_is_not_there_has_a_near_one_named() {
    let folder = std::env::temp_dir().join(format!("mptcplab-words-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a directory");
    std::fs::write(folder.join("two.toml"), "").expect("a file");
    std::fs::write(folder.join("handoff.toml"), "").expect("a file");
    let said = |name: &str| Draft::load(folder.join(name)).err().map(|error| error.to_string());
    let wanted = format!("; did you mean {:?}?", folder.join("two.toml").display().to_string());
    for name in ["tow.toml", "two", "two.tml"] {
        assert!(said(name).is_some_and(|said| said.ends_with(&wanted)), "{name}: {:?}", said(name));
    }
    assert!(said("nothing-like-it.toml").is_some_and(|said| said.ends_with("there is no such file")));
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

#[test]
fn a_scenario_that_a_program_built_has_no_lines() {
    let text = "duration = \"10s\"\n[paths.wifi]\nrate = \"8\"\n[flows.bulk]\n";
    let registry = mptcp_lab::Registry::built_in();
    let built = Draft::built_with(text, "mine", &registry).and_then(|draft| draft.finish());
    let said = built.err().map(|error| error.to_string());
    assert_eq!(
        said.as_deref().map(|said| said.starts_with("mine: paths.wifi.rate = \"8\": ")),
        Some(true),
        "{said:?}"
    );
}
