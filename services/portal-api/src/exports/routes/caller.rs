//! The caller of an export: a user or a person of the staff. The handlers are the same for both.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use identity::Realm;
use web::ApiError;

use crate::audit::domain::Author;
use crate::domain::{OperatorRole, Permission, Role, Session};
use crate::exports::domain::{Export, ExportScope};
use crate::http::audited::{OperatorAuthor, UserAuthor};
use crate::http::errors;

pub(crate) struct ExportCaller {
    pub(super) author: Author,
    access: Access,
}

enum Access {
    User(Box<Session>),
    Staff(OperatorRole),
}

impl ExportCaller {
    /// The exports that the caller sees: their own, and owners those of all users of the business.
    pub(super) fn scope(&self) -> ExportScope {
        let own = Some(self.author.key());
        match &self.access {
            Access::User(session) => ExportScope {
                realm: Realm::User,
                business: Some(session.business),
                author: own.filter(|_| session.role != Role::Owner),
            },
            Access::Staff(_) => ExportScope { realm: Realm::Staff, business: None, author: own },
        }
    }

    /// Checks the present role: it may have changed since the file was made.
    pub(super) fn may_fetch(&self, export: &Export) -> Result<(), ApiError> {
        match &self.access {
            Access::User(session) => {
                let customers = export.shows_customers.then_some(Permission::ReadCustomers);
                let mut needed = [Some(export.kind.permission()), customers].into_iter().flatten();
                let missing = needed.find(|permission| !session.role.may(*permission));
                missing.map_or(Ok(()), |permission| Err(errors::role_insufficient(permission)))
            }
            Access::Staff(role) => {
                let permission = export.kind.operator_permission();
                let is_allowed = self.author.may(*role, permission);
                is_allowed.then_some(()).ok_or_else(|| errors::permission_missing(permission, *role))
            }
        }
    }
}

impl FromRequest for ExportCaller {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let session = request.extensions().get::<Session>().cloned();
        let role = request.extensions().get::<OperatorRole>().copied();
        ready(match (session, role) {
            (Some(session), _) => {
                let author = UserAuthor::from_request(request, payload).into_inner();
                author.map(|author| Self { author: author.0, access: Access::User(Box::new(session)) })
            }
            (None, Some(role)) => {
                let author = OperatorAuthor::from_request(request, payload).into_inner();
                author.map(|author| Self { author: author.0, access: Access::Staff(role) })
            }
            (None, None) => Err(ApiError::internal("no caller: the route is not behind a guard")),
        })
    }
}
