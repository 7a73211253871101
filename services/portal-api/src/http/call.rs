//! What a row of the table of calls says. The table itself is in `calls.rs`.

use actix_web::Route;
use actix_web::http::Method;
use utoipa::openapi::OpenApi;

use crate::audit::domain::Action;
use crate::domain::{OperatorPermission, Part, Permission};

/// Calls of the operator below it are about one business.
const OF_BUSINESS: &str = "/v1/operator/businesses/{id}";

/// A call: the router serves it, the guards check it, and the OpenAPI document describes it as its row says.
pub(crate) struct Call {
    pub(crate) method: Method,
    /// With the names of its variables.
    pub(crate) path: &'static str,
    pub(crate) who: Who,
    pub(crate) rules: &'static [Rule],
    /// Gives a route the handler.
    pub(crate) handler: fn(Route) -> Route,
    /// What the attribute of the handler says.
    pub(crate) description: fn() -> OpenApi,
}

/// Who may send a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// Everybody, at sites with one of these parts. The handler checks what the body or a cookie proves.
    Anybody(&'static [Part]),
    /// A user whose role has the permission. Handlers receive the `Session`, or the `OwnAccount`.
    User(Permission),
    /// A person of the staff, about the own account. Handlers receive the `OwnAccount`.
    Person,
    /// As `Person`, and also a session of the configured token, which is no account. Handlers receive the `ConsoleSession`, or the
    /// `OwnSession`.
    Console,
    /// A token or a console session with the permission. Handlers receive the `Author` and the role.
    Operator(OperatorPermission),
}

/// What else a call needs, and what happens to its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The last authentication must be recent. Tokens, which programs send, are exempt.
    Recent,
    /// Open to people who must set up a second factor first. All other calls refuse them.
    WhileEnrolling,
    /// Refused to who logged in with single sign-on. The provider of a business must not take over the account of a person, and
    /// people of the staff whose provider decides about their access prove nothing with a password.
    NotSingleSignOn,
    /// Refused while the business is being closed, and afterwards.
    NotClosing,
    /// Refused once the completion of a closing has begun, and afterwards.
    NotClosed,
    /// A change that a closed business still allows: it reads, erases or ends something, or pays out money that arrived late.
    AlsoClosed,
    /// Answers also if the page shows another person: the page learns from it who is logged in now.
    AnyPage,
    /// The handler reads the query and refuses unknown parameters. The other calls accept none.
    Query,
    /// The body is a file: it may be as long as other services accept.
    LongBody,
    /// The response contains orders. The guard masks it for roles that do not see customers.
    Masked,
    /// The response contains personal data. The guard writes this entry to the operator's log. Commands log their changes themselves.
    Logged(Action),
}

impl Call {
    pub(crate) fn has(&self, rule: Rule) -> bool {
        self.rules.contains(&rule)
    }

    /// Whether the call is refused once its business is closed. Reads stay possible, and calls about a person's own account.
    pub(crate) fn ends_with_business(&self) -> bool {
        let is_of_business = match self.who {
            Who::User(permission) => permission != Permission::UseAccount,
            Who::Operator(_) => self.path.starts_with(OF_BUSINESS),
            Who::Anybody(_) | Who::Person | Who::Console => false,
        };
        is_of_business && self.method != Method::GET && !self.has(Rule::AlsoClosed)
    }

    /// Whether sites with this part serve it.
    pub(crate) fn is_of(&self, part: Part) -> bool {
        match self.who {
            Who::Anybody(parts) => parts.contains(&part),
            Who::User(_) => part == Part::Portal,
            Who::Person | Who::Console | Who::Operator(_) => part == Part::Console,
        }
    }

    /// The entry of the operator's log about each successful call.
    pub(crate) fn logged(&self) -> Option<Action> {
        self.rules.iter().find_map(|rule| if let Rule::Logged(action) = rule { Some(*action) } else { None })
    }
}

/// The description of a handler of users, at its path for the staff.
pub(crate) fn described_for_staff(mut description: OpenApi, path: &str, id: &str, summary: &str) -> OpenApi {
    let items = std::mem::take(&mut description.paths.paths).into_values();
    description.paths.paths = items.map(|item| (path.to_owned(), item)).collect();
    for item in description.paths.paths.values_mut() {
        let methods = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
        for operation in methods.into_iter().flatten() {
            operation.operation_id = Some(id.to_owned());
            operation.summary = Some(summary.to_owned());
            operation.tags = Some(vec!["Operator".to_owned()]);
        }
    }
    description
}

/// Makes the table. A row: method, path, handler, who may send it, rules. The second row of a handler that serves the staff too has
/// the id and the summary of the operation after `as`.
macro_rules! calls {
    ($(
        $method:ident $path:literal $($handler:ident)::+ $(as $id:literal $summary:literal)?:
        $who:ident $(($($of:ident),+))? $(, $rule:ident $(($action:ident))?)*;
    )+) => {
        pub(crate) static CALLS: &[Call] = &[$(Call {
            method: Method::$method,
            path: $path,
            who: calls!(@who $who $($($of),+)?),
            rules: &[$(Rule::$rule $((Action::$action))?),*],
            handler: |route| route.to($($handler)::+),
            description: || {
                #[derive(OpenApi)]
                #[openapi(paths($($handler)::+))]
                struct Described;
                calls!(@described Described::openapi() $(, $path, $id, $summary)?)
            },
        }),+];
    };
    (@who Anybody $($part:ident),+) => { Who::Anybody(&[$(Part::$part),+]) };
    (@who User $permission:ident) => { Who::User(Permission::$permission) };
    (@who Operator $permission:ident) => { Who::Operator(OperatorPermission::$permission) };
    (@who $who:ident) => { Who::$who };
    (@described $of:expr) => { $of };
    (@described $of:expr, $path:literal, $id:literal, $summary:literal) => {
        crate::http::call::described_for_staff($of, $path, $id, $summary)
    };
}
pub(crate) use calls;
