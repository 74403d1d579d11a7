//! The vocabulary of Toolgate: what a tool is, what a call needs, and what comes back.
//!
//! This crate must not know files, sockets, configuration, stages or storage. It describes them:
//! a capability is a trait here, and the handle a tool works with checks the plan before it passes
//! anything on.
//!
//! Start from [`Tool`], which is what you write, and [`ToolContext`], which is all it gets.

mod arguments;
mod artifacts;
mod ask;
mod call;
mod caller;
mod capability;
mod change;
mod clock;
mod config_change;
mod context;
mod digest;
mod disk;
mod due_date;
mod effect;
mod error;
mod exec;
mod fact;
mod files;
mod format;
mod gateway;
mod info;
mod isolation;
mod item_id;
mod key_path;
mod live;
mod nearest;
mod net;
mod notes;
mod outcome;
mod output;
mod own_data;
mod path;
mod pinned;
mod place;
mod plan;
mod redact;
mod review;
mod run;
mod schema;
mod sessions;
mod steps;
mod tasks;
mod time;
mod tool;
mod updates;
mod walk;

pub use arguments::{is_large, parse_json, texts};
pub use artifacts::{ArtifactId, ArtifactRef, ArtifactStore};
pub use ask::Ask;
pub use call::{CallId, CallIds, ToolCall};
pub use caller::{Caller, Confined, Left, Role};
pub use capability::{Capabilities, Capability};
pub use change::{
    Change, ChangeKind, ChangeLog, Changed, Commit, Expect, FileChange, FileContent, FileState,
};
pub use clock::Clock;
pub use config_change::ConfigChange;
pub use context::{ContextParts, ToolContext};
pub use digest::{ContentHasher, Digest};
pub use disk::{DiskCondition, DiskProblem};
pub use due_date::DueDate;
pub use effect::{Effect, Effects};
pub use error::{Problem, Source, ToolError, Unfinished};
pub use exec::{
    Captured, Commands, Ended, Exec, Execution, How, OutputPart, Process, ProcessStatus, Ran,
    Start, Stream, Terminal,
};
pub use fact::{Facts, PathFact};
pub use files::{Disk, FileKind, FileStat, Files, LiveFile, Opened};
pub use format::Format;
pub use gateway::{ConfigChanged, ConfigKey, ConfigValue, Configuration, Gateway};
pub use info::{Info, Profile, Rate, Requires, SameResult, SandboxNeed, Section, ToolInfo};
pub use isolation::{Isolation, IsolationLevel};
pub use item_id::ItemId;
pub use key_path::KeyPath;
pub use live::{Held, Live, Paused, WorkerSlot};
pub use nearest::nearest;
pub use net::{Answer, Fetch, Method, Net, Web};
pub use notes::{NewNote, Note, NoteSearch, Notebook, Notes};
pub use outcome::{Meta, Outcome};
pub use output::{Block, ToolOutput, Usage};
pub use own_data::OwnData;
pub use path::FilePath;
pub use pinned::{Identity, Named, Pinned, Runs, Script};
pub use place::Place;
pub use plan::{Need, Plan};
pub use redact::Redact;
pub use review::{Extent, Keep, Proposal, Proposed, Review};
pub use run::{Lasting, Reach, Run};
pub use schema::{plain_schema, schema_of};
pub use sessions::{
    Addressee, AgentInfo, Cleanup, Conversations, History, MessageCall, MessageInfo, SendMessage,
    SendStatus, Sent, SessionInfo, SessionQuery, SessionSettings, Sessions, Spawn, SpawnContext,
    Spawned, WithTools,
};
pub use steps::{Action, After, Argv, Inlet, Outlet, Step, Streams};
pub use tasks::{
    NewDueDate, NewTask, Priority, Task, TaskChange, TaskFilter, TaskList, TaskStatus, Tasks,
};
pub use tool::{AnyTool, BoxFuture, Prepared, Tool, ToolResult, Typed};
pub use updates::{UpdateSink, Updates};
pub use walk::{Ignored, Visit, Walk, WalkEntry, brace_depth};
