//! stub
use provider::*;
use tokio_util::sync::CancellationToken;
use tool::Format;
#[derive(Debug)]
pub struct Models;
#[derive(Debug, Clone)]
pub struct Choice {
    pub provider: String,
    pub model: String,
    pub format: Format,
    pub context_tokens: Option<u32>,
    pub price: Option<Price>,
}
impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}
#[derive(Debug, Clone, Copy)]
pub struct Price;
impl Price {
    pub fn cost_micros(&self, _: &Usage) -> u64 {
        0
    }
}
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("x")]
    Cancelled,
    #[error("y")]
    ContextTooLong {},
}
impl ModelError {
    pub fn kind(&self) -> &'static str {
        "x"
    }
    pub fn http_status(&self) -> u16 {
        500
    }
    pub fn for_anybody(&self) -> &'static str {
        "x"
    }
}
impl Models {
    pub fn new() -> Self {
        Self
    }
    pub fn pick(&self, _: Option<&config::Agent>, _: Option<&str>) -> Result<Choice, ModelError> {
        Err(ModelError::Cancelled)
    }
    pub async fn stream(
        &self,
        _: &Choice,
        _: Prompt<'_>,
        _: &CancellationToken,
        _: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Assembled, ModelError> {
        Err(ModelError::Cancelled)
    }
}
