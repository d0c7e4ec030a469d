//! Internal items for the tests, benchmarks and fuzz targets of this repository. Not part of the
//! public interface; it changes without notice.

pub mod api {
    pub use crate::api::{Api, ComponentKind, Field, Object, ObjectRef, Scope, Semantics, Views};
}
pub mod builtin {
    pub use crate::builtin::files;
}
pub mod check {
    pub use crate::check::{View, apply_allows, run, spell_out};
}
pub mod cluster {
    pub use crate::cluster::{Machine, Shape};
    pub mod fleet {
        pub use crate::cluster::fleet::Verdict;
    }
    pub mod schedule {
        pub use crate::cluster::schedule::{
            Admission, Options, PodTemplate, Scheduler, TemplateId, labels, selector_of,
        };
    }
}
pub mod decision {
    pub use crate::decision::{Basis, QueueDecision, Verdict};
}
pub mod diag {
    pub use crate::diag::{CODES, Code, CodeDoc, Diagnostic, Severity, Topic};
}
pub mod diff {
    pub use crate::diff::{Action, Diff, EFFECTS, Fate, Group, Settings, State, diff};
}
pub mod emit {
    pub mod stream {
        pub use crate::emit::stream::{Format, render, text};
    }
}
pub mod engine {
    pub use crate::engine::logs::{Errors, Row, errors, rows};
    pub use crate::engine::{CONSTANTS, Constants, Estimate, Load};
}
pub mod exchange {
    pub mod class {
        pub use crate::exchange::class::Action;
    }
    pub mod discover {
        pub use crate::exchange::discover::{Discovered, Options, discover};
    }
    pub mod kueue {
        pub use crate::exchange::kueue::{
            FlavorAction, KueueVersion, Options, Prefer, diff, export, import,
        };
    }
}
pub mod load {
    pub use crate::load::{Builtin, Memory, Request, load, load_again};
}
pub mod merge {
    pub mod history {
        pub use crate::merge::history::Recorder;
    }
    pub mod smp {
        pub use crate::merge::smp::merge;
    }
}
pub mod objects {
    pub use crate::objects::RenderedObject;
    pub mod accept {
        pub use crate::objects::accept::{accept_rendered, judge};
    }
    pub mod rules {
        pub use crate::objects::rules::ALL;
    }
}
pub mod operators {
    pub use crate::operators::{Selector, checks, release, released, releases};
    pub mod kthena {
        pub mod objects {
            pub use crate::operators::kthena::objects::{Expanded, Replaced, expand};
            pub mod rules {
                pub use crate::operators::kthena::objects::rules::ALL;
            }
        }
        pub mod releases {
            pub use crate::operators::kthena::releases::{CONTROLLER, DOCUMENTED, profile};
        }
    }
    pub mod servings {
        pub use crate::operators::servings::rules;
    }
    pub mod kueue {
        pub mod admit {
            pub use crate::operators::kueue::admit::{PodSet, admit};
            pub use crate::operators::kueue::cohort::Ledger;
        }
    }
    pub mod ome {
        pub mod compose {
            pub use crate::operators::ome::compose::merged;
        }
        pub mod releases {
            pub use crate::operators::ome::releases::DOCUMENTED;
        }
    }
}
pub mod pipeline {
    pub use crate::pipeline::counted_kinds;
}
pub mod pods {
    pub mod rules {
        pub use crate::pods::rules::ALL;
    }
}
pub mod policy {
    pub use crate::policy::Policy;
}
pub mod quantity {
    pub use crate::quantity::{
        IntOrPercent, Memory, Operator, ParamCount, Quantity, Rounding, Selector, Version,
        validate_documented,
    };
    pub mod hash {
        pub use crate::quantity::hash::{limit, model_ready_label, short_hash, tail, truncate63};
    }
    pub mod names {
        pub use crate::quantity::names::{
            annotation_key, c_identifier, config_map_key, dns1035_label, dns1123_label,
            dns1123_subdomain, domain_prefixed_path, env_var_name, finalizer,
            fully_qualified_domain_name, fully_qualified_name, generate_name_label,
            generate_name_subdomain, http_header_name, ip_address, label_key, label_value,
            namespace, path_segment_name, path_segment_prefix, percent, port_name, qualified_name,
            relaxed_env_var_name, service_account, service_name, wildcard_dns1123_subdomain,
        };
    }
}
pub mod report {
    pub mod code {
        pub use crate::report::code::page;
    }
    pub mod discover {
        pub use crate::report::discover::evidence;
    }
    pub mod findings {
        pub use crate::report::findings::{human, json, settle};
    }
    pub mod github {
        pub use crate::report::github::commands;
    }
    pub mod gitlab {
        pub use crate::report::gitlab::report;
    }
    pub mod json {
        pub use crate::report::json::Plan;
    }
    pub mod junit {
        pub use crate::report::junit::suites;
    }
    pub mod places {
        pub use crate::report::places::Places;
    }
    pub mod supported {
        pub use crate::cli::supported::page;
    }
    pub mod plan {
        pub use crate::report::plan::{Extent, Plan};
    }
    pub mod rdjson {
        pub use crate::report::rdjson::report;
    }
    pub mod sarif {
        pub use crate::report::sarif::Log;
    }
    pub mod schemas {
        pub use crate::report::schemas::documents;
    }
    pub mod serving {
        pub use crate::report::serving::{Notes, explain, markdown, text};
    }
    pub mod table {
        pub use crate::report::table::{Style, wrapped};
    }
    pub mod together {
        pub use crate::report::together::text;
    }
    pub mod totals {
        pub use crate::report::totals::{Read, classes, classes_markdown, verdict};
    }
}
pub mod schema {
    pub use crate::schema::{Schema, Type, kind, structure};
}
pub mod secret {
    pub use crate::secret::Secrets;
}
pub mod source {
    pub use crate::source::{SourceId, SourceMap, Span};
}
pub mod template {
    pub use crate::template::{
        DomainValues, Metadata, Mode, check_container, check_documented, domain, expand_container,
        expand_documented, path, variables,
    };
}
pub mod yaml {
    pub use crate::yaml::{FieldPath, Limits, Map, Node, Origin, Rule, Value, parse, split, write};
}
