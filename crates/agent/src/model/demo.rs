//! stub
use provider::{Assembled, Finish, Prompt};
pub(super) async fn stream(_: &Prompt<'_>, _: &mut (dyn FnMut(&str) + Send)) -> Assembled {
    Assembled {
        text: String::new(),
        calls: vec![],
        finish: Finish::Stop,
        usage: None,
        message: serde_json::Value::Null,
    }
}
