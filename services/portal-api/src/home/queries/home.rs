//! The home page of a business. It asks all services at once for the parts that the user's role may read, and lists the
//! services that do not answer.

use chrono_tz::Tz;
use domain::{BusinessId, Paise};
use internal_api::cash::{CashQuery, CashTotals};
use internal_api::orders::LiveOrders;
use internal_api::wallet::{SpendView, WalletView};
use internal_api::webhooks::EndpointView;
use internal_api::{CallError, PageQuery};

use crate::business::queries::unanswered::Unanswered;
use crate::domain::{Permission, Role};
use crate::home::domain::days_left;
use crate::state::State;

/// The days that say how much a business spends.
const SPEND_DAYS: u32 = 7;
/// More than a business may have.
const ENDPOINTS: PageQuery = PageQuery { limit: 100, starting_after: None };

/// `None` for what the role may not read, and for what a service did not answer.
pub(crate) struct Home {
    pub(crate) orders: Option<LiveOrders>,
    pub(crate) wallet: Option<WalletView>,
    /// `None` also if nothing was spent.
    pub(crate) days_left: Option<i64>,
    pub(crate) cash: Option<CashTotals>,
    pub(crate) endpoints: Option<Vec<EndpointView>>,
    /// The services that did not answer.
    pub(crate) incomplete: Vec<&'static str>,
}

pub(crate) async fn home(state: &State, business: BusinessId, role: Role) -> Home {
    let (peers, region) = (&state.peers, state.mailbox.region);
    let today = region.start_of_day(state.unit.clock.now());
    let days = format!("days={SPEND_DAYS}&timeZone={}", region.zone.name());
    // The totals come with a page of orders.
    let totals = CashQuery { limit: Some(1), ..CashQuery::default() };
    let money = role.may(Permission::ReadMoney);
    let (orders, wallet, spend, cash, endpoints) = tokio::join!(
        asked_if(role.may(Permission::ReadOrders), peers.orders.live(business, today)),
        asked_if(money, peers.wallet.wallet(business)),
        asked_if(money, peers.wallet.spend(business, &days)),
        asked_if(money, peers.wallet.cash(business, &totals)),
        asked_if(role.may(Permission::ReadWebhooks), peers.webhooks.list(business, &ENDPOINTS)),
    );
    let mut unanswered = Unanswered::default();
    let orders = orders.and_then(|answer| unanswered.unwrap("order-api", answer));
    let wallet = wallet.and_then(|answer| unanswered.unwrap("wallet", answer));
    let spend = spend.and_then(|answer| unanswered.unwrap("wallet", answer));
    let cash = cash.and_then(|answer| unanswered.unwrap("wallet", answer));
    let endpoints = endpoints.and_then(|answer| unanswered.unwrap("webhook-dispatcher", answer));
    let days_left = wallet.as_ref().zip(spend.as_ref());
    Home {
        days_left: days_left.and_then(|(wallet, spend)| days_left_of(wallet, spend)),
        orders,
        wallet,
        cash: cash.map(|cash| cash.totals),
        endpoints: endpoints.map(|page| page.data),
        incomplete: unanswered.0,
    }
}

async fn asked_if<T>(
    may: bool,
    call: impl Future<Output = Result<T, CallError>>,
) -> Option<Result<T, CallError>> {
    if may { Some(call.await) } else { None }
}

fn days_left_of(wallet: &WalletView, spend: &SpendView) -> Option<i64> {
    // The balance of a business that began today would else seem to last seven times as long.
    let began = wallet.funded_at.map(|at| match spend.time_zone.parse::<Tz>() {
        Ok(zone) => at.with_timezone(&zone).date_naive(),
        Err(_) => at.date_naive(),
    });
    let days = spend.days.iter().filter(|day| began.is_none_or(|began| day.date >= began));
    let spent = days.map(|day| Paise::new(day.fees_paise.get() - day.refunds_paise.get()));
    days_left(wallet.balance_paise, &spent.collect::<Vec<_>>())
}
