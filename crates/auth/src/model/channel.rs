use strum::{EnumString, IntoStaticStr, VariantArray};

/// Channel that a call arrives on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Channel {
    /// Request to the API.
    Api,
    /// Tool call of the Model Context Protocol.
    Mcp,
}
