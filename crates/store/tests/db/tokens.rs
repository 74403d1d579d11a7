//! Tokens and sign-in links.

use store::{NewSession, NewToken, Scope, SessionKey, SessionKind, TokenKind};
use tool::{Digest, Role};

use crate::{Setup, at};

fn new(user: &str, expires: Option<u64>) -> NewToken {
    NewToken {
        kind: TokenKind::Api,
        name: "laptop".into(),
        user: user.into(),
        role: Role::Member,
        agents: Some(vec!["main".into()]),
        scopes: None,
        expires_at: expires.map(at),
    }
}

/// With the members `ada` and `bob`.
async fn with_users() -> Setup {
    let setup = Setup::new().await;
    for id in ["ada", "bob"] {
        setup.db.add_user(id, id, at(0)).await.unwrap();
    }
    setup
}

#[tokio::test]
async fn a_token_works_until_it_expires_or_is_revoked() {
    let setup = with_users().await;
    let [hash, other] = ["secret", "other"].map(Digest::of);
    let token = setup.db.add_token(new("ada", Some(200)), &hash, at(100)).await.unwrap();
    let found = async |hash: &Digest, now| setup.db.find_token(hash, at(now)).await.unwrap();
    assert_eq!(found(&hash, 199).await.unwrap(), token);
    assert_eq!(found(&hash, 200).await, None);
    assert_eq!(found(&other, 150).await, None);
    let short = token.id.short().parse().unwrap();
    assert!(setup.db.revoke_token(&short, "owner", at(150)).await.unwrap());
    assert!(!setup.db.revoke_token(&short, "owner", at(150)).await.unwrap());
    assert_eq!(found(&hash, 151).await, None);
    let revoked = setup.db.token(&token.id).await.unwrap().unwrap();
    assert_eq!((revoked.revoked_by.as_deref(), revoked.revoked_at), (Some("owner"), Some(at(150))));
}

#[tokio::test]
async fn a_token_is_kept_as_it_was_given() {
    let setup = with_users().await;
    for (index, kind, role, agents, scopes) in [
        ("1", TokenKind::Api, Role::Owner, None, None),
        ("2", TokenKind::Browser, Role::Member, Some(vec![]), Some(vec![])),
        (
            "3",
            TokenKind::Browser,
            Role::Owner,
            Some(vec!["a".to_owned(), "b".to_owned()]),
            Some(vec![Scope::Elicit, Scope::Call]),
        ),
    ] {
        let new = NewToken { kind, role, agents, scopes, ..new("ada", None) };
        let made = setup.db.add_token(new.clone(), &Digest::of(index), at(1)).await.unwrap();
        assert_eq!(made.new, new);
        let found = setup.another().await.find_token(&Digest::of(index), at(2)).await.unwrap();
        assert_eq!(found, Some(made));
    }
}

#[tokio::test]
async fn two_tokens_never_have_one_hash() {
    let setup = with_users().await;
    setup.db.add_token(new("ada", None), &Digest::of("x"), at(1)).await.unwrap();
    setup.db.add_token(new("bob", None), &Digest::of("x"), at(1)).await.unwrap_err();
}

#[tokio::test]
async fn the_last_use_is_noted_once_a_minute() {
    let setup = with_users().await;
    let hash = Digest::of("secret");
    let token = setup.db.add_token(new("ada", None), &hash, at(100)).await.unwrap();
    for (now, expected) in [(110, 110), (120, 110), (169, 110), (170, 170), (171, 170), (100, 170)]
    {
        setup.db.find_token(&hash, at(now)).await.unwrap().unwrap();
        let stored = setup.db.token(&token.id).await.unwrap().unwrap();
        assert_eq!(stored.last_used_at, Some(at(expected)), "at {now}");
    }
}

#[tokio::test]
async fn tokens_are_listed_newest_first_and_forgotten_in_the_end() {
    let setup = with_users().await;
    let month = 30 * 24 * 3_600;
    for (name, user, expires, now) in
        [("a", "ada", None, 1), ("b", "bob", Some(10), 2), ("c", "ada", Some(10), 3)]
    {
        let new = NewToken { name: name.into(), ..new(user, expires) };
        setup.db.add_token(new, &Digest::of(name), at(now)).await.unwrap();
    }
    let names = async |user| {
        let found = setup.db.tokens(user).await.unwrap();
        found.into_iter().map(|token| token.new.name).collect::<String>()
    };
    assert_eq!(names(None).await, "cba");
    assert_eq!(names(Some("ada")).await, "ca");
    setup.db.add_token(new("ada", None), &Digest::of("d"), at(month + 11)).await.unwrap();
    assert_eq!(names(None).await, "laptopa");
}

#[tokio::test]
async fn a_link_works_once_and_in_time() {
    let setup = with_users().await;
    let [late, good] = ["late", "good"].map(Digest::of);
    setup.db.add_link(&late, at(200)).await.unwrap();
    setup.db.add_link(&good, at(300)).await.unwrap();
    assert!(!setup.db.use_link(&late, at(200)).await.unwrap());
    assert!(!setup.db.use_link(&late, at(100)).await.unwrap(), "it was removed");
    assert!(!setup.db.use_link(&Digest::of("other"), at(100)).await.unwrap());
    assert!(setup.db.use_link(&good, at(299)).await.unwrap());
    assert!(!setup.db.use_link(&good, at(299)).await.unwrap());
}

#[tokio::test]
async fn of_many_who_use_a_link_at_once_one_gets_in() {
    let setup = with_users().await;
    let hash = Digest::of("link");
    setup.db.add_link(&hash, at(200)).await.unwrap();
    let other = setup.another().await;
    let uses: Vec<_> = (0..20)
        .map(|index| {
            let db = if index % 2 == 0 { setup.db.clone() } else { other.clone() };
            tokio::spawn(async move { db.use_link(&hash, at(100)).await.unwrap() })
        })
        .collect();
    let mut used = 0;
    for one in uses {
        used += usize::from(one.await.unwrap());
    }
    assert_eq!(used, 1);
}

#[tokio::test]
async fn only_so_many_links_are_open() {
    let setup = with_users().await;
    for index in 0..=100 {
        setup.db.add_link(&Digest::of(index.to_string()), at(1_000 + index)).await.unwrap();
    }
    assert!(!setup.db.use_link(&Digest::of("0"), at(1)).await.unwrap());
    assert!(setup.db.use_link(&Digest::of("1"), at(1)).await.unwrap());
}

#[tokio::test]
async fn tokens_that_made_each_other_are_one_family() {
    let setup = with_users().await;
    let first = setup.db.add_token(new("ada", Some(50)), &Digest::of("1"), at(1)).await.unwrap();
    let made = async |maker, hash: &str, now| {
        let (new, hash) = (new("ada", None), Digest::of(hash));
        setup.db.add_token_of(Some(maker), new, &hash, at(now)).await.unwrap()
    };
    let second = made(&first, "2", 1).await;
    let third = made(&second, "3", 1).await;
    assert_eq!((first.made_by.as_ref(), &first.family), (None, &first.id));
    assert_eq!((third.made_by.as_ref(), &third.family), (Some(&second.id), &first.id));
    assert_eq!(setup.db.token(&third.id).await.unwrap(), Some(third.clone()));
    assert!(!setup.db.has_asked(&first.id).await.unwrap());
    let session = SessionKey::new("ada", "main", "s");
    setup.db.note_speaker(&session, &third.family).await.unwrap();
    // Also when the first of them is long gone.
    let fourth = made(&third, "4", 100 * 24 * 3_600).await;
    assert_eq!(setup.db.token(&first.id).await.unwrap(), None);
    assert!(setup.db.has_asked(&fourth.family).await.unwrap());
    assert!(setup.db.has_spoken(&session, &fourth.family).await.unwrap());
    setup.db.remove_session(&session, at(2)).await.unwrap();
    assert!(!setup.db.has_spoken(&session, &fourth.family).await.unwrap());
    assert!(setup.db.has_asked(&fourth.family).await.unwrap(), "that is not forgotten");
}

#[tokio::test]
async fn who_spoke_is_written_once_and_holds_for_what_is_below() {
    let setup = with_users().await;
    let token = setup.db.add_token(new("ada", None), &Digest::of("1"), at(1)).await.unwrap();
    let other = setup.db.add_token(new("ada", None), &Digest::of("2"), at(1)).await.unwrap();
    let key = |name: &str| SessionKey::new("ada", "main", name);
    let mut above = None;
    for name in ["top", "subagent:a", "subagent:b"] {
        let kind = if above.is_none() { SessionKind::Chat } else { SessionKind::Child };
        let new = NewSession { parent: above.take(), ..NewSession::new(key(name), kind) };
        above = Some(setup.db.open_session(new, at(1)).await.unwrap().key);
    }
    setup.db.note_speaker(&key("top"), &token.family).await.unwrap();
    let before = setup.another().await;
    let version = before.version().unwrap();
    setup.db.note_speaker(&key("top"), &token.family).await.unwrap();
    assert_eq!(before.version().unwrap(), version, "nothing is written");
    for (name, spoke) in [("top", true), ("subagent:a", true), ("subagent:b", true), ("x", false)] {
        assert_eq!(setup.db.has_spoken(&key(name), &token.family).await.unwrap(), spoke, "{name}");
        assert!(!setup.db.has_spoken(&key(name), &other.family).await.unwrap());
    }
    // Also when there is nothing in between any more.
    for (gone, left) in [("subagent:a", "subagent:b"), ("top", "subagent:b")] {
        assert!(setup.db.remove_session(&key(gone), at(2)).await.unwrap());
        assert!(!setup.db.has_spoken(&key("subagent:a"), &token.family).await.unwrap());
        assert!(setup.db.has_spoken(&key(left), &token.family).await.unwrap(), "{gone}");
        assert!(!setup.db.has_spoken(&key(left), &other.family).await.unwrap(), "{gone}");
    }
}

#[tokio::test]
async fn who_spoke_in_too_many_sessions_spoke_in_all() {
    let setup = with_users().await;
    let token = setup.db.add_token(new("ada", None), &Digest::of("1"), at(1)).await.unwrap();
    let key = |name: &str| SessionKey::new("ada", "main", name);
    let path = setup.data().join("toolgate.db");
    let conn = rusqlite::Connection::open(path).unwrap();
    conn.execute(
        "WITH RECURSIVE n(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 16384)
         INSERT INTO speakers SELECT 'ada', 'main', 's' || n, ? FROM n",
        [token.family.as_str()],
    )
    .unwrap();
    assert!(!setup.db.has_spoken(&key("x"), &token.family).await.unwrap());
    setup.db.note_speaker(&key("y"), &token.family).await.unwrap();
    assert!(setup.db.has_spoken(&key("x"), &token.family).await.unwrap());
    setup.db.note_speaker(&key("z"), &token.family).await.unwrap();
    let rows = conn.query_row("SELECT count(*) FROM speakers", [], |row| row.get(0));
    assert_eq!(rows, Ok(16_385));
}

#[test]
fn a_token_is_for_what_is_named_and_an_agents_never_for_what_is_a_persons() {
    let all = Some(Scope::ALL.to_vec());
    let agents = Some(vec!["main".to_owned()]);
    for (agents, scopes, expected) in [
        (None, None, "call answer manage"),
        (None, all.clone(), "call answer manage elicit senders"),
        (None, Some(vec![Scope::Elicit, Scope::Call]), "call elicit"),
        (None, Some(vec![]), ""),
        (agents.clone(), None, "call"),
        (agents, all, "call elicit senders"),
    ] {
        let token = NewToken { agents, scopes, ..new("ada", None) };
        let found: Vec<_> = token.scopes().map(Scope::name).collect();
        assert_eq!(found.join(" "), expected, "{token:?}");
    }
}
