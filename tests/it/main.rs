//! Tests over the whole tool, one module per area.
