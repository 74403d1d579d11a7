//! Calls and results in a provider's own format.

use std::sync::Arc;

use gate::Found;
use provider::{DefinitionList, Format, ProviderError, WireCall, calls, mcp_results, results};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tool::{Caller, Outcome};

use crate::{Gate, Request};

/// What came of the calls in what a model said.
#[derive(Debug)]
pub struct Answered {
    /// For the model, as its next request has them.
    pub results: Value,
    /// For programs and people, in the order of the calls.
    pub outcomes: Vec<Outcome>,
}

impl Gate {
    /// The tools of `caller`, as a request to a model has them. Worked out once for each set of tools.
    pub fn definitions(&self, caller: &Caller, format: Format) -> Arc<DefinitionList> {
        let tools: Vec<_> = self.view(caller).tools().map(|entry| entry.info().clone()).collect();
        self.definitions.list(format, &tools)
    }

    /// Runs the calls in what a model said: a message, or the whole response around it.
    pub async fn answer(
        &self,
        caller: &Caller,
        format: Format,
        message: &Value,
        cancel: &CancellationToken,
    ) -> Result<Answered, ProviderError> {
        let calls = calls(format, message)?;
        let definitions = self.definitions(caller, format);
        let requests = calls.iter().map(|call| {
            let name = definitions.names.inward(&call.name).into_owned();
            let request = agent::request(self, caller, &WireCall { name, ..call.clone() });
            Request { cancel: cancel.child_token(), ..request }
        });
        let outcomes = self.run_all(caller, requests.collect()).await;
        let answers: Vec<_> = calls.iter().zip(&outcomes).collect();
        Ok(Answered { results: self.results(caller, format, &answers), outcomes })
    }

    /// What a model is told about calls of `caller`, as its next request has it.
    pub fn results(
        &self,
        caller: &Caller,
        format: Format,
        answers: &[(&WireCall, &Outcome)],
    ) -> Value {
        if format != Format::Mcp {
            return results(format, answers);
        }
        let (view, definitions) = (self.view(caller), self.definitions(caller, format));
        let outcomes = answers.iter().map(|(call, outcome)| {
            let tool = match view.find(&definitions.names.inward(&call.name)) {
                Found::Tool(entry) => Some(&**entry.info()),
                Found::Withheld(..) | Found::Unavailable(..) | Found::Unknown => None,
            };
            (Outcome::clone(outcome), tool)
        });
        let most = self.config().limits.model_output_bytes.value;
        mcp_results(outcomes, usize::try_from(most).unwrap_or(usize::MAX))
    }
}
