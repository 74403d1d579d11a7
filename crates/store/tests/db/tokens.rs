//! Tokens and sign-in links.

use store::{NewToken, TokenKind};
use tool::{Digest, Role};

use crate::{Setup, at};

fn new(user: &str, expires: Option<u64>) -> NewToken {
    NewToken {
        kind: TokenKind::Api,
        name: "laptop".into(),
        user: user.into(),
        role: Role::Member,
        agents: Some(vec!["main".into()]),
        expires_at: expires.map(at),
    }
}

#[tokio::test]
async fn a_token_works_until_it_expires_or_is_revoked() {
    let setup = Setup::new().await;
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
    let setup = Setup::new().await;
    for (index, kind, role, agents) in [
        ("1", TokenKind::Api, Role::Owner, None),
        ("2", TokenKind::Browser, Role::Member, Some(vec![])),
        ("3", TokenKind::Browser, Role::Owner, Some(vec!["a".to_owned(), "b".to_owned()])),
    ] {
        let new = NewToken { kind, role, agents, ..new("ada", None) };
        let made = setup.db.add_token(new.clone(), &Digest::of(index), at(1)).await.unwrap();
        assert_eq!(made.new, new);
        let found = setup.another().await.find_token(&Digest::of(index), at(2)).await.unwrap();
        assert_eq!(found, Some(made));
    }
}

#[tokio::test]
async fn two_tokens_never_have_one_hash() {
    let setup = Setup::new().await;
    setup.db.add_token(new("ada", None), &Digest::of("x"), at(1)).await.unwrap();
    setup.db.add_token(new("bob", None), &Digest::of("x"), at(1)).await.unwrap_err();
}

#[tokio::test]
async fn the_last_use_is_noted_once_a_minute() {
    let setup = Setup::new().await;
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
    let setup = Setup::new().await;
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
    let setup = Setup::new().await;
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
    let setup = Setup::new().await;
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
    let setup = Setup::new().await;
    for index in 0..=100 {
        setup.db.add_link(&Digest::of(index.to_string()), at(1_000 + index)).await.unwrap();
    }
    assert!(!setup.db.use_link(&Digest::of("0"), at(1)).await.unwrap());
    assert!(setup.db.use_link(&Digest::of("1"), at(1)).await.unwrap());
}
