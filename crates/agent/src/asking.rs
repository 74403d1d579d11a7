//! How the model is asked: piece by piece, within what it takes, and counted.

use provider::{Assembled, DefinitionList, Message, Options, Prompt, Usage};
use store::Spent;
use tool::Block;

use crate::{AgentError, Event, compact, model::ModelError, run::Run, transcript};

/// A conversation is summed up when it fills this part of what its model takes.
const FULL_PERCENT: usize = 80;
/// What then stays as it was said.
const KEPT_PERCENT: usize = 30;
/// What of each message goes into a summary.
const SUMMARY_CHARS: usize = 4_000;
/// What the model is told when it is to sum up.
const SUM_UP: &str = "Sum up the conversation below for yourself, so that you can go on with it without \
having read it: what was asked, what was decided, what was done and found (names, paths, numbers, ids \
exactly), what is open. No introduction.";
/// A conversation of more messages is summed up, too, however short they are.
const MAX_MESSAGES: usize = 5_000;

impl Run<'_> {
    /// Asks the model; a conversation that has become too long is summed up first.
    pub(crate) async fn ask(
        &mut self,
        definitions: &DefinitionList,
    ) -> Result<Assembled, AgentError> {
        if self.is_full() {
            self.compact().await?;
        }
        let mut summed_up = false;
        loop {
            match self.stream(definitions).await {
                Err(ModelError::ContextTooLong { .. }) if !summed_up => {
                    summed_up = true;
                    self.compact().await?;
                }
                other => return Ok(other?),
            }
        }
    }

    fn is_full(&self) -> bool {
        compact::tokens(&self.messages) > self.share(FULL_PERCENT)
            || self.messages.len() > MAX_MESSAGES
    }

    /// This part of what the model takes, in tokens.
    fn share(&self, percent: usize) -> usize {
        usize::try_from(self.choice.context_tokens).unwrap_or(usize::MAX).saturating_mul(percent)
            / 100
    }

    async fn stream(&mut self, definitions: &DefinitionList) -> Result<Assembled, ModelError> {
        let prompt = Prompt {
            provider: &self.choice.provider,
            model: &self.choice.model,
            system: Some(&self.system),
            messages: &self.messages,
            tools: Some(definitions),
            options: &self.options,
        };
        let (mut said, mut late) = (String::new(), String::new());
        let (sink, begun) = (self.sink.clone(), !self.text.is_empty());
        let mut on_text = |piece: &str| {
            let gap = if begun && said.is_empty() { "\n\n" } else { "" };
            said.push_str(piece);
            let text = format!("{late}{gap}{piece}");
            late = sink.offer(text).unwrap_or_default();
        };
        let models = self.agents.models.load_full();
        let until = tokio::time::sleep_until(self.budget.until());
        let answer = tokio::select! {
            answer = models.stream(&self.choice, &prompt, &self.cancel, &mut on_text) => answer,
            () = until => Err(ModelError::Cancelled),
        };
        if !late.is_empty() {
            self.sink.send(Event::Text { text: late }, &self.cancel).await;
        }
        if !said.is_empty() {
            if begun {
                self.text.push_str("\n\n");
            }
            self.text.push_str(&said);
        }
        let answer = answer?;
        let usage = answer.usage.unwrap_or_else(|| guessed(&self.messages, &answer));
        self.spend(usage).await;
        Ok(answer)
    }

    async fn spend(&mut self, usage: Usage) {
        let cost = self.choice.price.map_or(0, |price| price.cost_micros(&usage));
        self.usage = plus(self.usage, usage);
        self.budget.spend(usage.input.saturating_add(usage.output), cost);
        self.account(Spent {
            input_tokens: usage.input,
            output_tokens: usage.output,
            cost_micros: cost,
            calls: 0,
        })
        .await;
    }

    /// Replaces the beginning of the conversation by a summary.
    async fn compact(&mut self) -> Result<(), AgentError> {
        let Some(at) = compact::cut(&self.messages, self.share(KEPT_PERCENT)) else {
            return Ok(());
        };
        let (head, tail) = self.messages.split_at_checked(at).unwrap_or((&self.messages, &[]));
        // A summary of a summary would only be shorter.
        if head.iter().all(transcript::is_summary) {
            return Ok(());
        }
        let (head, tail) = (head.to_vec(), tail.to_vec());
        let summary = self.sum_up(&head).await;
        let key = &self.session.key;
        let from = transcript::replace(self.db, key, (&summary, &tail), self.now()).await?;
        self.session.context_from = from;
        self.messages = transcript::load(self.db, &self.session).await?;
        Ok(())
    }

    /// The model sums up; if it cannot, the beginnings of the messages must do.
    async fn sum_up(&mut self, head: &[Message]) -> String {
        let text = compact::as_text(head, SUMMARY_CHARS);
        let asked = [Message::User(vec![Block::Text(format!("{SUM_UP}\n\n{text}"))])];
        let prompt = Prompt {
            provider: &self.choice.provider,
            model: &self.choice.model,
            system: None,
            messages: &asked,
            tools: None,
            options: &Options::default(),
        };
        let models = self.agents.models.load_full();
        let mut unheard = |_: &str| ();
        let answer = tokio::select! {
            answer = models.stream(&self.choice, &prompt, &self.cancel, &mut unheard) => answer,
            () = tokio::time::sleep_until(self.budget.until()) => Err(ModelError::Cancelled),
        };
        match answer {
            Ok(answer) if !answer.text.trim().is_empty() => {
                let usage = answer.usage.unwrap_or_else(|| guessed(&asked, &answer));
                self.spend(usage).await;
                answer.text
            }
            Ok(_) | Err(_) => compact::as_text(head, 200),
        }
    }
}

/// What an answer will have cost, for providers that do not say: a budget must come to its end.
fn guessed(messages: &[Message], answer: &Assembled) -> Usage {
    let count = |tokens: usize| u64::try_from(tokens).unwrap_or(u64::MAX);
    let said = [Message::Model(provider::ModelMessage {
        text: answer.text.clone(),
        calls: answer.calls.clone(),
        raw: None,
    })];
    Usage {
        input: count(compact::tokens(messages)),
        output: count(compact::tokens(&said)),
        ..Usage::default()
    }
}

fn plus(one: Usage, other: Usage) -> Usage {
    Usage {
        input: one.input.saturating_add(other.input),
        output: one.output.saturating_add(other.output),
        cache_read: one.cache_read.saturating_add(other.cache_read),
        cache_write: one.cache_write.saturating_add(other.cache_write),
    }
}
