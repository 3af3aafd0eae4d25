//! Configurations: Burn's own, with an `init` that makes the private layer.

/// A configuration that is Burn's (fields by dereference, defaults, serialised form) but whose
/// `init` makes a private layer.
macro_rules! layer_config {
    (
        $(#[$doc:meta])*
        $name:ident($stock:ty) $(-> $layer:ident)?;
        new($($argument:ident: $argument_type:ty),*);
        $($with:ident($value:ty)),* $(,)?
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name($stock);

        impl burn::config::Config for $name {}

        impl $name {
            /// The configuration with Burn's defaults.
            pub fn new($($argument: $argument_type),*) -> Self {
                Self(<$stock>::new($($argument),*))
            }

            $(
                /// Sets the field of the same name of Burn's configuration.
                #[must_use]
                pub fn $with(self, value: $value) -> Self {
                    Self(self.0.$with(value))
                }
            )*

            $(
                /// The layer, with newly initialised parameters.
                pub fn init(&self, device: &burn::tensor::Device) -> $layer {
                    self.0.init(device).into()
                }
            )?
        }

        impl From<$stock> for $name {
            fn from(config: $stock) -> Self {
                Self(config)
            }
        }

        impl std::ops::Deref for $name {
            type Target = $stock;

            fn deref(&self) -> &$stock {
                &self.0
            }
        }
    };
}

/// Conversions between a private layer and Burn's, field by field.
macro_rules! same_fields {
    ($layer:ty, $stock:ty { $($field:ident),* $(; $($inner:ident),*)? }) => {
        impl From<$stock> for $layer {
            fn from(stock: $stock) -> Self {
                Self {
                    $($field: stock.$field,)*
                    $($($inner: stock.$inner.into(),)*)?
                }
            }
        }

        impl From<$layer> for $stock {
            fn from(layer: $layer) -> Self {
                Self {
                    $($field: layer.$field,)*
                    $($($inner: layer.$inner.into(),)*)?
                }
            }
        }
    };
}
