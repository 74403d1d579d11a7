use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn whoever_is_killed_before_the_rename_leaves_the_old_file() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("toolgate.toml");
    fs::write(&path, "old").unwrap();
    let file = ConfigFile::at(&path).unwrap();
    let found = file.read().unwrap().unwrap();
    // Written and synced, and never put in place.
    drop(file.stage(Some(&found), "new").unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(folder.path()), [".toolgate.toml.toolgate-new", "toolgate.toml"]);
    // What is left is in nobody's way, and goes.
    assert_eq!(file.replace(Some(&found), "newer").unwrap(), Replaced::Yes);
    assert_eq!(fs::read_to_string(&path).unwrap(), "newer");
    assert_eq!(names(folder.path()), ["toolgate.toml"]);
}

#[test]
fn what_is_left_beside_the_file_is_never_written_into() {
    let folder = TempDir::new().unwrap();
    let (path, other) = (folder.path().join("toolgate.toml"), folder.path().join("other"));
    fs::write(&other, "mine").unwrap();
    symlink(&other, folder.path().join(".toolgate.toml.toolgate-new")).unwrap();
    let file = ConfigFile::at(&path).unwrap();
    assert_eq!(file.replace(None, "new").unwrap(), Replaced::Yes);
    assert_eq!(fs::read_to_string(&other).unwrap(), "mine");
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
}

#[test]
fn a_file_that_somebody_wrote_meanwhile_stays() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("toolgate.toml");
    fs::write(&path, "old").unwrap();
    let file = ConfigFile::at(&path).unwrap();
    let found = file.read().unwrap();
    fs::write(&path, "by hand").unwrap();
    assert_eq!(file.replace(found.as_ref(), "new").unwrap(), Replaced::No);
    assert_eq!(file.replace(None, "new").unwrap(), Replaced::No);
    assert_eq!(fs::read_to_string(&path).unwrap(), "by hand");
    assert_eq!(names(folder.path()), ["toolgate.toml"]);
}

#[test]
fn mode_stays_and_a_new_file_is_the_owners() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a/b/toolgate.toml");
    let file = ConfigFile::at(&path).unwrap();
    let _lock = file.lock().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
    assert_eq!(file.replace(None, "").unwrap(), Replaced::Yes);
    assert_eq!((mode(&path), mode(&folder.path().join("a"))), (0o600, 0o700));
    for kept in [0o640, 0o664, 0o444] {
        fs::set_permissions(&path, Permissions::from_mode(kept)).unwrap();
        let found = file.read().unwrap();
        assert_eq!(file.replace(found.as_ref(), "x").unwrap(), Replaced::Yes);
        assert_eq!(mode(&path), kept);
    }
}

#[test]
fn a_link_is_followed_within_its_folder_and_no_further() {
    let folder = TempDir::new().unwrap();
    let (inside, outside) = (folder.path().join("conf"), folder.path().join("dotfiles"));
    fs::create_dir(&inside).unwrap();
    fs::create_dir(&outside).unwrap();
    for target in [inside.join("real.toml"), outside.join("real.toml")] {
        fs::write(target, "old").unwrap();
    }
    let link = inside.join("toolgate.toml");
    for (target, expected) in [
        ("real.toml", Ok("real.toml")),
        ("../conf/real.toml", Ok("real.toml")),
        ("../dotfiles/real.toml", Err("leads out of its folder")),
        ("gone.toml", Err("cannot find")),
        ("../dotfiles", Err("leads out of its folder")),
        ("toolgate.toml", Err("cannot find")),
    ] {
        symlink(target, &link).unwrap();
        let file = ConfigFile::at(&link).map_err(|error| error.to_string());
        match (file, expected) {
            (Ok(file), Ok(expected)) => {
                let found = file.read().unwrap();
                assert_eq!(file.replace(found.as_ref(), "new").unwrap(), Replaced::Yes, "{target}");
                assert_eq!(fs::read_to_string(inside.join(expected)).unwrap(), "new");
                assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{target}");
            }
            (Err(refused), Err(expected)) => assert!(refused.contains(expected), "{refused}"),
            (found, expected) => panic!("{target}: {found:?}, not {expected:?}"),
        }
        fs::remove_file(&link).unwrap();
    }
    assert_eq!(fs::read_to_string(outside.join("real.toml")).unwrap(), "old");
    fs::create_dir(&link).unwrap();
    assert!(ConfigFile::at(&link).unwrap_err().to_string().contains("is not a file"));
}
