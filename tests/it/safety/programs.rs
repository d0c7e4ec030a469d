//! Programs: only the user names them, never the repository that is judged.

use crate::process::{Done, Folder};

const TREE: [(&str, &str); 4] = [
    ("repo/kustomization.yaml", "resources: [n.yaml]\n"),
    ("repo/n.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: egret-1}\n"),
    ("repo/own.sh", "echo ran > ran\ncat n.yaml\n"),
    ("repo/ome.toml", "kustomize-command = \"sh own.sh\"\n"),
];

fn has_run(folder: &Folder) -> bool {
    std::fs::remove_file(folder.at("repo/ran")).is_ok()
}

#[test]
fn a_settings_file_beside_the_input_runs_no_program() {
    let folder = Folder::new(&TREE);
    for call in ["plan -k .", "validate -k .", "diff --base . -k .", "render -k ."] {
        folder.ome_below("repo", call, &[]);
        assert!(!has_run(&folder), "{call}");
    }
    let done = folder.ome_below("repo", "validate -f n.yaml", &[]);
    assert_eq!(done.exit, Some(0), "{done:?}");
    let next = "name it with `--kustomize-command`, in OME_KUSTOMIZE_COMMAND";
    assert!(done.stdout.contains("invalid-setting") && done.stdout.contains(next), "{done:?}");
    // Nor from a directory above.
    std::fs::rename(folder.at("repo/ome.toml"), folder.at("ome.toml")).expect("a file");
    folder.ome_below("repo", "validate -k .", &[]);
    assert!(!has_run(&folder));
}

#[test]
fn the_user_names_a_program_by_flag_variable_and_own_settings() {
    let folder = Folder::new(&TREE);
    folder.write("home/ome/config.toml", "kustomize-command = \"sh own.sh\"\n");
    let home = folder.at("home").display().to_string();
    let runs = |args: &str, env: &[(&str, &str)]| -> Done {
        let done = folder.ome_below("repo", args, env);
        assert!(has_run(&folder), "{args} {env:?}: {done:?}");
        done
    };
    runs("validate -k . --no-config", &[("OME_KUSTOMIZE_COMMAND", "sh own.sh")]);
    runs("validate -k . --config ome.toml", &[]);
    runs("validate -k .", &[("XDG_CONFIG_HOME", &home)]);
    assert_eq!(
        folder.ome_below("repo", "validate -k . --no-config", &[("XDG_CONFIG_HOME", &home)]).exit,
        folder.ome_below("repo", "validate -k . --no-config", &[]).exit,
    );
    assert!(!has_run(&folder), "--no-config leaves the user's own settings out, too");
}

/// Whoever can change the input cannot have it built: only the user's own settings, a flag and a
/// variable can.
#[test]
fn a_settings_file_beside_the_input_builds_no_overlay() {
    let folder = Folder::new(&TREE);
    folder.write("repo/ome.toml", "kustomize = \"auto\"\n");
    let command = ("OME_KUSTOMIZE_COMMAND", "sh own.sh");
    for call in ["plan -f .", "diff --base . -f .", "render -f .", "plan -f . --overlays never"] {
        folder.ome_below("repo", call, &[command]);
        assert!(!has_run(&folder), "{call}");
    }
    let done = folder.ome_below("repo", "validate -f n.yaml", &[]);
    let next = "set OME_KUSTOMIZE, or set it in $XDG_CONFIG_HOME/ome/config.toml";
    assert!(done.stdout.contains("invalid-setting") && done.stdout.contains(next), "{done:?}");
    // The user can, and validate, test and what is written to files never do.
    folder.write("home/ome/config.toml", "kustomize = \"auto\"\n");
    folder.write("repo/x.ome-test.yaml", "cases: []\n");
    let home = folder.at("home").display().to_string();
    let own = [command, ("XDG_CONFIG_HOME", home.as_str())];
    let variable = [command, ("OME_KUSTOMIZE", "auto")];
    for env in [&own, &variable] {
        for call in ["plan -f .", "diff --base . -f .", "render -f ."] {
            folder.ome_below("repo", call, env);
            assert!(has_run(&folder), "{call}");
        }
        for call in
            ["validate -f .", "test -f .", "render -f . -o dir=out", "plan -f . --overlays never"]
        {
            folder.ome_below("repo", call, env);
            assert!(!has_run(&folder), "{call}");
        }
    }
}

#[test]
fn an_overlay_with_a_program_or_a_remote_resource_is_never_built() {
    let folder = Folder::new(&TREE);
    let env = [("OME_KUSTOMIZE_COMMAND", "sh own.sh"), ("OME_KUSTOMIZE", "auto")];
    folder.ome_below("repo", "plan -f .", &env);
    assert!(has_run(&folder), "a plain tree is built");
    folder.write("repo/plugin.yaml", "apiVersion: example.org/v1\nkind: Maker\nmetadata:\n  name: m\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {path: ./own.sh}\n");
    folder.write("outside/b.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: heron}\n");
    for text in [
        "generators: [plugin.yaml]",
        "transformers: [plugin.yaml]",
        "validators: [plugin.yaml]",
        "helmCharts: [{name: x, repo: 'https://kustomize.invalid'}]",
        "resources: ['https://kustomize.invalid/x.yaml']",
        "resources: [n.yaml, ../outside/b.yaml]",
    ] {
        folder.write("repo/kustomization.yaml", text);
        let done = folder.ome_below("repo", "plan -f . -o json", &env);
        assert!(!has_run(&folder), "{text}");
        assert!(done.stdout.contains("kustomize-not-built"), "{text}: {done:?}");
    }
}

/// What the file of the project sets wins over the user's own; the rest adds up.
#[test]
fn project_settings_win_over_those_of_the_user() {
    let pod = "apiVersion: ome.io/v1beta1\nkind: ClusterBaseModel\nmetadata: {name: m}\nspec: {sppec: 1}\n";
    let folder = Folder::new(&[
        ("repo/m.yaml", pod),
        ("home/ome/config.toml", "[severity]\nunknown-field = \"off\"\n"),
    ]);
    let home = folder.at("home").display().to_string();
    let run = || folder.ome_below("repo", "validate m.yaml -o json", &[("XDG_CONFIG_HOME", &home)]);
    assert!(!run().stdout.contains("\"unknown-field\""), "{:?}", run());
    folder.write("repo/ome.toml", "[severity]\nunknown-field = \"warning\"\n");
    assert!(run().stdout.contains("\"unknown-field\""), "{:?}", run());
    // A relative directory would lead into the repository.
    folder.write("repo/conf/ome/config.toml", "[severity]\nunknown-field = \"off\"\n");
    std::fs::remove_file(folder.at("repo/ome.toml")).expect("a file");
    let done = folder.ome_below("repo", "validate m.yaml -o json", &[("XDG_CONFIG_HOME", "conf")]);
    assert!(done.stdout.contains("\"unknown-field\""), "{done:?}");
}

#[cfg(unix)]
#[test]
fn settings_of_another_user_are_refused() {
    let folder = Folder::new(&TREE);
    let file = folder.at("repo/ome.toml");
    folder.write("repo/ome.toml", "[severity]\nunknown-field = \"off\"\n");
    // Only root gives files away.
    if std::os::unix::fs::chown(&file, Some(12345), Some(12345)).is_err() {
        return;
    }
    let done = folder.ome_below("repo", "validate n.yaml", &[]);
    assert_eq!(done.exit, Some(1), "{done:?}");
    assert!(done.stderr.contains("belongs to another user"), "{done:?}");
    assert!(done.stderr.contains("--config") && done.stderr.contains("--no-config"), "{done:?}");
    for args in ["validate n.yaml --no-config", "validate n.yaml --config ome.toml"] {
        assert_eq!(folder.ome_below("repo", args, &[]).exit, Some(0), "{args}");
    }
    // The caller of sudo is the user.
    let done = folder.ome_below("repo", "validate n.yaml", &[("SUDO_UID", "12345")]);
    assert_eq!(done.exit, Some(0), "{done:?}");
}

/// No plugin and no chart: the program gets nothing but the tree, and no other program is asked.
#[cfg(unix)]
#[test]
fn kustomize_is_run_without_plugins_and_charts() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new(&TREE);
    let say =
        "#!/bin/sh\nfor word in \"$0\" \"$@\"; do echo \"$word\"; done >> said\n/bin/cat n.yaml\n";
    for name in ["kustomize", "kubectl", "helm"] {
        let file = format!("bin/{name}");
        folder.write(&file, say);
        std::fs::set_permissions(folder.at(&file), std::fs::Permissions::from_mode(0o755))
            .expect("it can be run");
    }
    let path = folder.at("bin").display().to_string();
    let done = folder.ome_below("repo", "validate -k . --no-config", &[("PATH", &path)]);
    assert_eq!(done.exit, Some(0), "{done:?}");
    let said = folder.read("repo/said");
    let said: Vec<&str> = said.lines().collect();
    let [program, asked @ ..] = said.as_slice() else { panic!("{said:?}") };
    assert!(program.ends_with("bin/kustomize"), "{said:?}");
    let flags: Vec<&&str> = asked.iter().filter(|word| word.starts_with('-')).collect();
    assert!(!flags.iter().any(|flag| flag.contains("enable")), "{said:?}");
    assert_eq!(asked.iter().filter(|word| **word == "build").count(), 1, "run once: {said:?}");
}
