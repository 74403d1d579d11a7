//! Users.

use store::{NewToken, StoreError, TokenKind, UserError};
use tool::{Digest, Role};

use crate::{LIMITS, Setup, at, question};

fn token(user: &str) -> NewToken {
    NewToken {
        kind: TokenKind::Api,
        name: "laptop".into(),
        user: user.into(),
        role: Role::Member,
        agents: None,
        scopes: None,
        expires_at: None,
    }
}

#[tokio::test]
async fn the_owner_is_always_there() {
    let setup = Setup::new().await;
    let users = setup.db.users().await.unwrap();
    let names: Vec<_> = users.iter().map(|user| (user.id.as_str(), user.role)).collect();
    assert_eq!(names, [("owner", Role::Owner)]);
    let error = setup.db.remove_user("owner", "owner", at(1)).await.unwrap_err();
    assert_eq!(error.to_string(), "the owner cannot be removed");
}

#[tokio::test]
async fn a_token_is_made_for_users_there_are() {
    let setup = Setup::new().await;
    setup.db.add_user("ada", "Ada", at(1)).await.unwrap();
    for (user, expected) in [
        ("adah", "there is no user `adah`; did you mean `ada`?"),
        ("zoe", "there is no user `zoe`; `toolgate users add` adds one"),
        ("Ada", "there is no user `Ada`; did you mean `ada`?"),
    ] {
        let error = setup.db.add_token(token(user), &Digest::of(user), at(1)).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    setup.db.add_token(token("ada"), &Digest::of("x"), at(1)).await.unwrap();
}

#[tokio::test]
async fn an_id_is_one_users_for_good() {
    let setup = Setup::new().await;
    setup.db.add_user("ada", "Ada", at(1)).await.unwrap();
    for id in ["ada", "ADA"] {
        let error = setup.db.add_user(id, "other", at(2)).await.unwrap_err();
        assert!(matches!(error, StoreError::User(UserError::Exists(id)) if id == "ada"));
    }
    setup.db.remove_user("ada", "owner", at(3)).await.unwrap();
    let error = setup.db.add_user("ada", "other", at(4)).await.unwrap_err();
    assert!(error.to_string().starts_with("user `ada` was removed, and what is theirs"), "{error}");
    let error = setup.db.remove_user("ada", "owner", at(5)).await.unwrap_err();
    assert!(matches!(error, StoreError::User(UserError::Removed(_))));
    let back = setup.db.restore_user("ada").await.unwrap();
    assert_eq!((back.name.as_str(), back.is_there()), ("Ada", true));
    assert!(matches!(
        setup.db.restore_user("ada").await,
        Err(StoreError::User(UserError::Exists(_)))
    ));
    assert!(matches!(
        setup.db.restore_user("eve").await,
        Err(StoreError::User(UserError::Unknown { .. }))
    ));
    assert_eq!(setup.db.rename_user("ada", "Ada L.").await.unwrap().name, "Ada L.");
}

#[tokio::test]
async fn with_a_user_everything_of_theirs_ends_and_nothing_of_others() {
    let setup = Setup::new().await;
    let (db, now) = (&setup.db, at(150));
    for user in ["ada", "bob"] {
        db.add_user(user, user, at(1)).await.unwrap();
        db.add_token(token(user), &Digest::of(user), at(1)).await.unwrap();
    }
    let mine = db.request_approval(question(), LIMITS).await.unwrap();
    let other = store::NewApproval { user: "bob".into(), ..question() };
    let theirs = db.request_approval(other, LIMITS).await.unwrap();
    let ended = db.remove_user("ada", "owner", now).await.unwrap();
    assert_eq!((ended.tokens, ended.questions), (1, 1));
    let works = async |user: &str| db.find_token(&Digest::of(user), now).await.unwrap().is_some();
    assert!(!works("ada").await && works("bob").await);
    let status = async |id| db.approval(id, now).await.unwrap().unwrap().status.name();
    assert_eq!((status(&mine).await, status(&theirs).await), ("withdrawn", "pending"));
    let error = db.add_token(token("ada"), &Digest::of("new"), now).await.unwrap_err();
    assert!(matches!(error, StoreError::User(UserError::Removed(_))));
    assert_eq!(db.removed_users().await.unwrap(), ["ada"]);
    // What was theirs does not work again with them.
    db.restore_user("ada").await.unwrap();
    assert!(!works("ada").await);
}

#[tokio::test]
async fn users_are_listed_page_by_page_with_the_owner_first() {
    let setup = Setup::new().await;
    for id in ["zoe", "ada", "bob"] {
        setup.db.add_user(id, id, at(1)).await.unwrap();
    }
    let mut seen: Vec<String> = Vec::new();
    loop {
        let after = seen.last().map(String::as_str);
        let page = setup.db.users_after(after, 2).await.unwrap();
        if page.is_empty() {
            break;
        }
        seen.extend(page.into_iter().map(|user| user.id));
    }
    assert_eq!(seen, ["owner", "ada", "bob", "zoe"]);
}
