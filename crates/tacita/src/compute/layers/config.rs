//! Configurations: Burn's own, with an `init` that makes the private layer.

/// A configuration that is Burn's (fields by dereference, defaults, serialised form) but whose
/// `init` makes a private layer. After `->` is a layer whose parameters start constant; after `=>` one
/// whose method `drawn` draws them, so that Burn's generator is not used.
macro_rules! layer_config {
    (
        $(#[$doc:meta])*
        $name:ident($stock:ty) $(-> $layer:ident)? $(=> $drawn:ident)?;
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

            $(
                /// The layer, with newly initialised parameters: drawn from a fresh key of the
                /// operating system, or from the keys of
                /// [`Keys::initial_weights`](crate::Keys::initial_weights).
                pub fn init(&self, device: &burn::tensor::Device) -> $drawn {
                    let initializer = crate::mechanism::initial_weights::without_drawing(&self.0.initializer);
                    let stock = self.0.clone().with_initializer(initializer).init(device);
                    $drawn::from(stock).drawn(&self.0)
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
