//! The bare rmcp server that everything is compared with, in the cheapest configuration rmcp has: no sessions,
//! answers as JSON, tools matched by hand, no definition looked up per call, nobody authenticated.

use std::sync::Arc;

use anyhow::Result;
use axum::{Router, serve::ListenerExt as _};
use clap::Args;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject,
        ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::output;

/// Serve `echo`, which returns its `text`, and one more tool, which returns always the same.
#[derive(Args, Clone, Debug)]
pub(crate) struct Echo {
    /// Name of the tool that returns always the same, whatever its arguments.
    #[arg(long, default_value = crate::TOOL)]
    tool: String,
    /// What that tool returns.
    #[arg(long, default_value = crate::ANSWER)]
    answer: String,
}

impl Echo {
    /// Serves on a free port, which is printed, until the process is ended.
    pub(crate) async fn run(self) -> Result<()> {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true);
        let handler = Arc::new(self);
        let service = StreamableHttpService::new(
            move || Ok(handler.clone()),
            Arc::new(NeverSessionManager::default()),
            config,
        );
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        output::line(format_args!("http://{}", listener.local_addr()?));
        // Without it every answer may wait for an acknowledgement. It cannot fail on an open socket.
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap_or_default());
        axum::serve(listener, Router::new().route_service("/mcp", service)).await?;
        Ok(())
    }
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let takes_anything = JsonObject::from_iter([("type".to_owned(), "object".into())]);
        let takes_anything = Arc::new(takes_anything);
        Ok(ListToolsResult::with_all_items(vec![
            Tool::new("echo", "Return the text.", takes_anything.clone()),
            Tool::new(self.tool.clone(), "Return always the same.", takes_anything),
        ]))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = if call.name == self.tool {
            self.answer.clone()
        } else if call.name == "echo" {
            match call.arguments.and_then(|mut arguments| arguments.remove("text")) {
                Some(Value::String(text)) => text,
                _ => return Err(ErrorData::invalid_params("`text` is missing", None)),
            }
        } else {
            return Err(ErrorData::invalid_params("no such tool", None));
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}
