//! What the papers prove about their policies, as functions of f64.
//!
//! | file | paper |
//! |---|---|
//! | [`alignment`], [`distance`], [`convergence`] | Bu et al. 2023 (arXiv:2206.07136), appendices C to E |
//! | [`lazy_regions`] | Bu et al. 2023, appendix F |
//! | [`utility`] | Du et al. 2021 (arXiv:2111.00173), section 5 and A.5 to A.8 |
//! | [`frontier`] | Galli et al. 2024 (arXiv:2310.00829), Proposition 1 |

pub mod alignment;
pub mod convergence;
pub mod distance;
pub mod frontier;
pub mod lazy_regions;
mod minimum;
pub mod utility;
