use zed_extension_api::{self as zed, LanguageServerId, Result, Worktree};

struct Ome;

impl zed::Extension for Ome {
    fn new() -> Self {
        Self
    }

    fn language_server_command(
        &mut self,
        _: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<zed::Command> {
        let command = worktree.which("ome").ok_or("`ome` is not on PATH")?;
        Ok(zed::Command { command, args: vec!["lsp".into()], env: worktree.shell_env() })
    }
}

zed::register_extension!(Ome);
