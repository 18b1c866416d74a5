//! The two domains of τ² that are audited, and their tools that write to the database.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A domain of τ².
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Domain {
    /// Flights and reservations.
    Airline,
    /// Orders of a shop.
    Retail,
}

impl Domain {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Airline, Self::Retail];

    /// The written form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Airline => "airline",
            Self::Retail => "retail",
        }
    }

    /// Reads the written form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|domain| domain.as_str() == text)
    }

    /// The tools that the benchmark declares as writing (its commit a03b7910). Transfers and calculations are none.
    #[must_use]
    pub fn write_tools(self) -> &'static [&'static str] {
        match self {
            Self::Airline => &[
                "book_reservation",
                "cancel_reservation",
                "send_certificate",
                "update_reservation_baggages",
                "update_reservation_flights",
                "update_reservation_passengers",
            ],
            Self::Retail => &[
                "cancel_pending_order",
                "exchange_delivered_order_items",
                "modify_pending_order_address",
                "modify_pending_order_items",
                "modify_pending_order_payment",
                "modify_user_address",
                "return_delivered_order_items",
            ],
        }
    }

    /// Does a tool of this domain write to the database?
    #[must_use]
    pub fn writes(self, tool: &str) -> bool {
        self.write_tools().contains(&tool)
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
