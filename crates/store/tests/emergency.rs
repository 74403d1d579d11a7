//! The file that stops everything.

use std::{
    fs,
    time::{Duration, SystemTime},
};

use store::{Emergency, EmergencyFile, Said, StoreError};

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn said(reason: &str) -> Said {
    Said { by: "ada".to_owned(), at: at(1), reason: Some(reason.to_owned()) }
}

#[test]
fn what_is_said_is_seen_by_everybody_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (here, there) = (folder.path().join("data"), folder.path().join("data"));
    let (here, there) = (EmergencyFile::open(&here).unwrap(), EmergencyFile::open(&there).unwrap());
    let seen = |seconds| there.state(|| at(seconds)).unwrap();
    assert_eq!(seen(1), None);
    let passing = Emergency::Override { said: said("down"), until: at(10) };
    here.say(Some(&passing)).unwrap();
    assert_eq!((seen(9), seen(10)), (Some(passing.clone()), None));
    let stopped = Emergency::Stopped(said(&"enough \"\n\u{202e}".repeat(100)));
    here.say(Some(&stopped)).unwrap();
    assert_eq!(seen(1_000_000), Some(stopped));
    assert!(matches!(here.say(Some(&passing)), Err(StoreError::EverythingStopped)));
    here.say(None).unwrap();
    assert_eq!(seen(1), None);
    let long = Emergency::Stopped(said(&"x".repeat(5_000)));
    assert!(matches!(here.say(Some(&long)), Err(StoreError::TooLong)));
    assert_eq!(seen(1), None);
}

#[test]
fn a_file_that_is_replaced_or_gone_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (file, path) =
        (EmergencyFile::open(folder.path()).unwrap(), folder.path().join("emergency.json"));
    fs::remove_file(&path).unwrap();
    file.refresh();
    assert!(file.state(|| at(1)).is_err(), "what is gone cannot be read");
    let stopped = Emergency::Stopped(said("enough"));
    EmergencyFile::open(folder.path()).unwrap().say(Some(&stopped)).unwrap();
    file.refresh();
    assert_eq!(file.state(|| at(1)).unwrap(), Some(stopped));
}
