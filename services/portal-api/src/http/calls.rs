//! The table of calls: who may send each, and what else it needs. The router and the OpenAPI document are built from it, so that
//! no call exists without a row.

use actix_web::http::Method;
use utoipa::OpenApi;

use crate::account::routes::{
    confirm_session, console_session, email, memberships, names, passkeys, password, password_resets,
    second_factor, second_step, session, sessions, sign_up, staff_links,
};
use crate::approvals::routes::approvals;
use crate::audit::domain::Action;
use crate::audit::routes::{audit_log, operator_audit_log};
use crate::business::routes::{
    businesses, closing, contact, operator_health, pickup_profile, refusal, staff_notes, subscription,
};
use crate::console::routes::{operator_tokens, staff};
use crate::domain::{OperatorPermission, Part, Permission};
use crate::exports::routes::exports;
use crate::go_live::routes::{status, status_stream};
use crate::home::routes::{home, operator_home};
use crate::http::call::{Call, Rule, Who, calls};
use crate::http::config;
use crate::relay::routes::{
    after_failure, api_keys, cash, events, operator_orders, operator_wallet, order_cancel, order_request,
    order_stream, orders, packages, payments, personal_data, remittances, statement, wallet,
    webhook_deliveries, webhook_endpoints, webhook_tools,
};
use crate::single_sign_on::routes::{of_staff, of_users, settings};
use crate::team::routes::{invitations, users};

calls! {
    // Log-ins of users.
    POST "/v1/portal/accounts" sign_up::sign_up: Anybody(Portal);
    POST "/v1/portal/session" session::log_in: Anybody(Portal);
    GET "/v1/portal/session" session::who_am_i: User(UseAccount), WhileEnrolling, AnyPage;
    DELETE "/v1/portal/session" session::log_out: Anybody(Portal);
    POST "/v1/portal/session/second-factor" second_step::portal: Anybody(Portal);
    POST "/v1/portal/session/second-factor/passkey-options" second_step::portal_options: Anybody(Portal);
    // The own account of a user.
    POST "/v1/portal/session/confirm" confirm_session::confirm:
        User(UseAccount), WhileEnrolling, NotSingleSignOn;
    POST "/v1/portal/session/confirm/passkey-options" confirm_session::options:
        User(UseAccount), NotSingleSignOn;
    // Also the way to a business that requires no second factor.
    POST "/v1/portal/session/business" memberships::switch:
        User(UseAccount), WhileEnrolling, NotSingleSignOn;
    POST "/v1/portal/memberships" memberships::join: User(UseAccount), NotSingleSignOn;
    POST "/v1/portal/businesses" memberships::create: User(UseAccount), NotSingleSignOn;
    GET "/v1/portal/second-factor" second_factor::read: User(UseAccount), WhileEnrolling, NotSingleSignOn;
    POST "/v1/portal/second-factor" second_factor::start:
        User(UseAccount), Recent, WhileEnrolling, NotSingleSignOn;
    POST "/v1/portal/second-factor/confirm" second_factor::confirm:
        User(UseAccount), WhileEnrolling, NotSingleSignOn;
    POST "/v1/portal/second-factor/recovery-codes" second_factor::replace_recovery_codes:
        User(UseAccount), Recent, NotSingleSignOn;
    DELETE "/v1/portal/second-factor" second_factor::remove: User(UseAccount), Recent, NotSingleSignOn;
    GET "/v1/portal/second-factor/passkeys" passkeys::list: User(UseAccount), NotSingleSignOn;
    POST "/v1/portal/second-factor/passkeys/options" passkeys::start:
        User(UseAccount), Recent, NotSingleSignOn;
    POST "/v1/portal/second-factor/passkeys" passkeys::add: User(UseAccount), Recent, NotSingleSignOn;
    DELETE "/v1/portal/second-factor/passkeys/{id}" passkeys::remove:
        User(UseAccount), Recent, NotSingleSignOn;
    DELETE "/v1/portal/users/{id}/second-factor" second_factor::reset_by_owner:
        User(ManageUsers), Recent, NotSingleSignOn, AlsoClosed;
    PUT "/v1/portal/password" password::change: User(UseAccount), NotSingleSignOn;
    GET "/v1/portal/email" email::read: User(UseAccount), NotSingleSignOn;
    PUT "/v1/portal/email" email::change: User(UseAccount), Recent, NotSingleSignOn;
    // While enrolling, because the address is confirmed first. A session of a provider may confirm it too.
    POST "/v1/portal/email-confirmations" email::send: User(UseAccount), WhileEnrolling;
    POST "/v1/portal/email-confirmations/confirm" email::confirm: User(UseAccount), WhileEnrolling;
    PUT "/v1/portal/name" names::of_user: User(UseAccount), NotSingleSignOn;
    PUT "/v1/portal/business" names::of_business: User(ManageBusiness);
    GET "/v1/portal/business/contact" contact::read: User(ReadBusiness);
    PUT "/v1/portal/business/contact" contact::write: User(ManageBusiness);
    GET "/v1/portal/business/refusal" refusal::read: User(ReadBusiness);
    POST "/v1/portal/business/refusal/ask-again" refusal::ask: User(ManageBusiness), NotClosing;
    // What is open is for owners only: the handler asks for it.
    GET "/v1/portal/business/closing" closing::read: User(ReadBusiness);
    POST "/v1/portal/business/closing" closing::begin: User(ManageBusiness), Recent;
    DELETE "/v1/portal/business/closing" closing::withdraw: User(ManageBusiness), Recent;
    GET "/v1/portal/sessions" sessions::list: User(UseAccount), NotSingleSignOn, Query;
    DELETE "/v1/portal/sessions/{id}" sessions::revoke: User(UseAccount), Recent, NotSingleSignOn;
    POST "/v1/portal/sessions/revoke-others" sessions::revoke_all_others:
        User(UseAccount), Recent, NotSingleSignOn;
    // People without an account, or without access to it.
    POST "/v1/portal/password-resets" password_resets::request: Anybody(Portal);
    POST "/v1/portal/password-resets/look-up" password_resets::look_up: Anybody(Portal);
    POST "/v1/portal/password-resets/confirm" password_resets::confirm: Anybody(Portal);
    POST "/v1/portal/invitations/look-up" invitations::look_up: Anybody(Portal);
    POST "/v1/portal/invitations/accept" invitations::accept: Anybody(Portal);
    // The team.
    GET "/v1/portal/users" users::list: User(ManageUsers), Query;
    PATCH "/v1/portal/users/{id}" users::change: User(ManageUsers), Recent, AlsoClosed;
    DELETE "/v1/portal/users/{id}" users::remove: User(ManageUsers), Recent, AlsoClosed;
    POST "/v1/portal/users/{id}/link" users::link: User(ManageUsers), Recent, AlsoClosed;
    DELETE "/v1/portal/users/{id}/sessions" users::end_sessions: User(ManageUsers), AlsoClosed;
    GET "/v1/portal/invitations" invitations::list: User(ManageUsers), Query;
    POST "/v1/portal/invitations" invitations::create: User(ManageUsers), Recent;
    DELETE "/v1/portal/invitations/{id}" invitations::withdraw: User(ManageUsers), AlsoClosed;
    GET "/v1/portal/audit-log" audit_log::list: User(ReadAuditLog), Query;
    GET "/v1/portal/audit-log.csv" audit_log::export_csv: User(ReadAuditLog), Recent, Query;
    GET "/v1/portal/audit-log.jsonl" audit_log::export_json_lines: User(ReadAuditLog), Recent, Query;
    // The overview.
    GET "/v1/portal/config" config::config: Anybody(Portal, Console);
    // The handler asks only for what the role may read.
    GET "/v1/portal/home" home::home: User(ReadBusiness);
    GET "/v1/portal/status" status::status: User(ReadBusiness);
    GET "/v1/portal/status/stream" status_stream::stream: User(ReadBusiness);
    GET "/v1/portal/packages" packages::list: User(ReadBusiness);
    GET "/v1/portal/pickup-profile" pickup_profile::read: User(ReadBusiness);
    PUT "/v1/portal/pickup-profile" pickup_profile::write: User(ManageIntegration);
    GET "/v1/portal/subscription" subscription::read: User(ReadBusiness);
    PUT "/v1/portal/subscription" subscription::request: User(ManageMoney), NotClosing;
    // Keys. Those of live mode also need a recent authentication: their handlers check it, as the mode decides.
    GET "/v1/portal/api-keys" api_keys::list: User(ReadKeys), Query;
    POST "/v1/portal/api-keys" api_keys::create: User(ManageIntegration), NotClosing;
    POST "/v1/portal/api-keys/{id}/revoke" api_keys::revoke: User(ManageIntegration), AlsoClosed;
    POST "/v1/portal/api-keys/{id}/rotate" api_keys::rotate: User(ManageIntegration), NotClosing;
    // Orders. The list of events and the stream contain no personal data.
    GET "/v1/portal/events" events::list: User(ReadOrders), Query;
    GET "/v1/portal/orders" orders::list: User(ReadOrders), Query, Masked;
    GET "/v1/portal/orders/stream" order_stream::stream: User(ReadOrders), Query;
    GET "/v1/portal/orders/{id}" orders::read: User(ReadOrders), Masked;
    GET "/v1/portal/orders/{id}/events" orders::events: User(ReadOrders), Query, Masked;
    GET "/v1/portal/orders/{id}/evidence" orders::evidence: User(ReadOrders), Masked;
    POST "/v1/portal/orders/{id}/simulate" orders::simulate: User(ManageIntegration), Masked;
    GET "/v1/portal/orders/{id}/request" order_request::request: User(ReadOrders), Masked;
    POST "/v1/portal/orders/{id}/cancel" order_cancel::cancel: User(CancelOrders), Masked, AlsoClosed;
    GET "/v1/portal/exceptions" after_failure::list: User(ReadOrders), Query, Masked;
    POST "/v1/portal/orders/{id}/reattempt" after_failure::reattempt: User(CancelOrders), Query, Masked;
    POST "/v1/portal/orders/{id}/return" after_failure::request_return:
        User(CancelOrders), Query, Masked, AlsoClosed;
    POST "/v1/portal/orders/{id}/delivery-code" orders::issue_delivery_code: User(CorrectDeliveries);
    POST "/v1/portal/orders/{id}/delivery-details" after_failure::correct: User(CorrectDeliveries), Masked;
    // Irreversible.
    POST "/v1/portal/orders/{id}/erase-personal-data" personal_data::erase_one:
        User(ErasePersonalData), Masked, AlsoClosed;
    GET "/v1/portal/personal-data-erasure" personal_data::latest: User(ReadBusiness);
    POST "/v1/portal/personal-data-erasure" personal_data::erase_all:
        User(ErasePersonalData), Recent, AlsoClosed;
    // Money.
    GET "/v1/portal/wallet" wallet::read: User(ReadMoney);
    GET "/v1/portal/wallet/entries" statement::entries: User(ReadMoney), Query;
    GET "/v1/portal/wallet/entries.csv" statement::export_entries: User(ReadMoney), Query;
    GET "/v1/portal/wallet/entries.xlsx" statement::export_workbook: User(ReadMoney), Query;
    GET "/v1/portal/wallet/entries/totals" statement::totals: User(ReadMoney), Query;
    GET "/v1/portal/wallet/spend" wallet::spend: User(ReadMoney), Query;
    PUT "/v1/portal/wallet/threshold" wallet::set_threshold: User(ManageMoney);
    GET "/v1/portal/wallet/top-ups" wallet::pending_top_ups: User(ReadMoney);
    POST "/v1/portal/wallet/top-ups" wallet::top_up: User(ManageMoney), NotClosed;
    GET "/v1/portal/wallet/top-ups/{id}" wallet::find_top_up: User(ReadMoney);
    GET "/v1/portal/cod" cash::of_business: User(ReadMoney), Query;
    GET "/v1/portal/cod/months" cash::months: User(ReadMoney);
    GET "/v1/portal/remittances" remittances::list: User(ReadMoney), Query;
    GET "/v1/portal/remittances/{id}" remittances::read: User(ReadMoney);
    GET "/v1/portal/remittances/{id}/orders.csv" remittances::export: User(ReadMoney);
    // Exports. The permission is that of the list; the handler of the file checks those of its content.
    POST "/v1/portal/orders/exports" exports::of_orders: User(ReadOrders), Query, AlsoClosed;
    POST "/v1/portal/cod/exports" exports::of_cash: User(ReadMoney), Query, AlsoClosed;
    GET "/v1/portal/exports" exports::list: User(ReadOrders);
    GET "/v1/portal/exports/{id}" exports::read: User(ReadOrders);
    DELETE "/v1/portal/exports/{id}" exports::remove: User(ReadOrders), AlsoClosed;
    GET "/v1/portal/exports/{id}/file" exports::file: User(ReadOrders);
    // Webhooks. Endpoints of live mode also need a recent authentication, as keys.
    GET "/v1/portal/webhook-endpoints" webhook_endpoints::list: User(ReadWebhooks), Query;
    POST "/v1/portal/webhook-endpoints" webhook_endpoints::create: User(ManageIntegration), NotClosing;
    GET "/v1/portal/webhook-endpoints/{id}" webhook_endpoints::read: User(ReadWebhooks);
    PATCH "/v1/portal/webhook-endpoints/{id}" webhook_endpoints::update: User(ManageIntegration);
    DELETE "/v1/portal/webhook-endpoints/{id}" webhook_endpoints::remove: User(ManageIntegration), AlsoClosed;
    POST "/v1/portal/webhook-endpoints/{id}/test" webhook_endpoints::test: User(ManageIntegration);
    POST "/v1/portal/webhook-endpoints/{id}/parked/replay" webhook_endpoints::replay_parked:
        User(ManageIntegration);
    POST "/v1/portal/webhook-endpoints/{id}/parked/discard" webhook_endpoints::discard_parked:
        User(ManageIntegration);
    GET "/v1/portal/webhook-endpoints/{id}/deliveries" webhook_deliveries::of_endpoint:
        User(ReadWebhooks), Query;
    // The body can name the driver and the reason of a failure; the list contains neither.
    GET "/v1/portal/webhook-deliveries/{id}" webhook_deliveries::read: User(ReadWebhooks), Masked;
    POST "/v1/portal/webhook-deliveries/{id}/redeliver" webhook_deliveries::redeliver: User(ResendWebhooks);
    POST "/v1/portal/webhook-endpoints/{id}/secret/rotate" webhook_tools::rotate_secret:
        User(ManageIntegration);
    POST "/v1/portal/webhook-endpoints/{id}/secret/activate" webhook_tools::activate_secret:
        User(ManageIntegration);
    POST "/v1/portal/webhook-endpoints/{id}/recover" webhook_tools::recover: User(ResendWebhooks);
    GET "/v1/portal/webhook-endpoints/{id}/recoveries" webhook_tools::recoveries: User(ReadWebhooks), Query;
    GET "/v1/portal/webhook-endpoints/{id}/recoveries/{recovery}" webhook_tools::recovery: User(ReadWebhooks);
    POST "/v1/portal/webhook-endpoints/{id}/recoveries/{recovery}/cancel" webhook_tools::cancel_recovery:
        User(ResendWebhooks);
    // The response contains a valid signature of the given body.
    POST "/v1/portal/webhook-endpoints/{id}/verify-signature" webhook_tools::verify_signature:
        User(ManageIntegration);
    // Log-ins and the own account of the staff.
    POST "/v1/operator/session" console_session::open: Anybody(Console);
    GET "/v1/operator/session" console_session::read: Console, WhileEnrolling, AnyPage;
    DELETE "/v1/operator/session" console_session::close: Anybody(Console);
    PUT "/v1/operator/name" names::of_staff: Person;
    PUT "/v1/operator/password" password::change
        as "changeStaffPassword" "Change the own password. All other console sessions end":
        Person, Recent, NotSingleSignOn;
    GET "/v1/operator/sessions" sessions::list
        as "listOperatorSessions" "List the own open console sessions, newest first. All holders of the installation token share its list":
        Console, Query;
    DELETE "/v1/operator/sessions/{id}" sessions::revoke
        as "revokeOperatorSession" "End one of the own console sessions": Console, Recent;
    POST "/v1/operator/sessions/revoke-others" sessions::revoke_all_others
        as "revokeOtherOperatorSessions" "End all other own console sessions": Console, Recent;
    POST "/v1/operator/session/second-factor" second_step::operator: Anybody(Console);
    POST "/v1/operator/session/second-factor/passkey-options" second_step::operator_options: Anybody(Console);
    // Single sign-on of users. A change of the settings must not end the only way in.
    POST "/v1/portal/sso/log-ins" of_users::start: Anybody(Portal);
    POST "/v1/portal/sso/log-ins/complete" of_users::complete: Anybody(Portal);
    GET "/v1/portal/single-sign-on" settings::read: User(ManageSingleSignOn);
    PUT "/v1/portal/single-sign-on" settings::put: User(ManageSingleSignOn), Recent, NotSingleSignOn;
    DELETE "/v1/portal/single-sign-on" settings::remove:
        User(ManageSingleSignOn), Recent, NotSingleSignOn, AlsoClosed;
    POST "/v1/portal/single-sign-on/test" settings::test: User(ManageSingleSignOn);
    // Single sign-on of the staff. Its handler checks the session that it confirms or links.
    POST "/v1/operator/sso/log-ins" of_staff::start: Anybody(Console);
    POST "/v1/operator/sso/log-ins/complete" of_staff::complete: Anybody(Console);
    // The second factor of the staff.
    POST "/v1/operator/session/confirm" confirm_session::confirm
        as "confirmOperatorSession" "Confirm the console session with the password or a passkey, before a sensitive call":
        Person, WhileEnrolling, NotSingleSignOn;
    POST "/v1/operator/session/confirm/passkey-options" confirm_session::options
        as "startOperatorConfirmationWithPasskey" "Begin to confirm the console session with a passkey":
        Person, NotSingleSignOn;
    GET "/v1/operator/second-factor" second_factor::read
        as "readStaffSecondFactor" "Whether the own account has a second factor": Person, WhileEnrolling;
    POST "/v1/operator/second-factor" second_factor::start
        as "startStaffSecondFactor" "Start to set up an authenticator app for the own account":
        Person, Recent, WhileEnrolling;
    POST "/v1/operator/second-factor/confirm" second_factor::confirm
        as "confirmStaffSecondFactor" "Turn on two-factor authentication with the first code of the app":
        Person, WhileEnrolling;
    POST "/v1/operator/second-factor/recovery-codes" second_factor::replace_recovery_codes
        as "replaceStaffRecoveryCodes" "Replace all recovery codes of the own account": Person, Recent;
    DELETE "/v1/operator/second-factor" second_factor::remove
        as "removeStaffSecondFactor" "Turn off two-factor authentication of the own account": Person, Recent;
    GET "/v1/operator/second-factor/passkeys" passkeys::list
        as "listStaffPasskeys" "The passkeys of the own account, the oldest first": Person;
    POST "/v1/operator/second-factor/passkeys/options" passkeys::start
        as "startStaffPasskey" "Begin to add a passkey to the own account, which has an authenticator app":
        Person, Recent;
    POST "/v1/operator/second-factor/passkeys" passkeys::add
        as "addStaffPasskey" "Add a passkey to the own account": Person, Recent;
    DELETE "/v1/operator/second-factor/passkeys/{id}" passkeys::remove
        as "removeStaffPasskey" "Remove a passkey of the own account": Person, Recent;
    // Second factors that somebody else resets, and links that set passwords.
    DELETE "/v1/operator/staff/{id}/second-factor" second_factor::reset_staff:
        Operator(ManageStaff), Recent;
    DELETE "/v1/operator/businesses/{id}/users/{user}/second-factor" second_factor::reset_by_support:
        Operator(IssuePasswordResets), Recent, AlsoClosed;
    POST "/v1/operator/password-links/look-up" staff_links::look_up: Anybody(Console);
    POST "/v1/operator/password-links/use" staff_links::set_password: Anybody(Console);
    // Names and amounts of businesses, without their people.
    GET "/v1/operator/home" operator_home::home: Operator(ReadBusinesses);
    // Businesses and orders. The lists contain the e-mail addresses of owners.
    GET "/v1/operator/businesses" businesses::list: Operator(ReadBusinesses), Query, Logged(BusinessesRead);
    GET "/v1/operator/businesses/{id}" businesses::read: Operator(ReadBusinesses), Logged(BusinessRead);
    PUT "/v1/operator/businesses/{id}/contact" contact::write_for_operator: Operator(ChangeBusinesses);
    GET "/v1/operator/businesses/{id}/notes" staff_notes::list:
        Operator(ReadBusinesses), Query, Logged(BusinessRead);
    POST "/v1/operator/businesses/{id}/notes" staff_notes::add: Operator(ChangeBusinesses), AlsoClosed;
    POST "/v1/operator/businesses/{id}/refusal" refusal::refuse: Operator(ChangeBusinesses);
    GET "/v1/operator/businesses/{id}/health" operator_health::health: Operator(ReadBusinesses);
    GET "/v1/operator/businesses/{id}/orders" operator_orders::of_business:
        Operator(ReadOrders), Query, Logged(OrdersRead);
    GET "/v1/operator/orders" operator_orders::orders: Operator(ReadOrders), Query, Logged(OrdersRead);
    GET "/v1/operator/exceptions" operator_orders::exceptions: Operator(ReadOrders), Query, Logged(OrdersRead);
    GET "/v1/operator/orders/{id}/events" operator_orders::order_events:
        Operator(ReadOrders), Query, Logged(OrderTimelineRead);
    GET "/v1/operator/orders/{id}/evidence" operator_orders::order_evidence:
        Operator(ReadOrders), Logged(OrderEvidenceRead);
    // As the business asks for them, with an entry in both audit logs.
    POST "/v1/operator/businesses/{id}/orders/{order}/reattempt" after_failure::reattempt_for_operator:
        Operator(ChangeBusinesses), Query;
    POST "/v1/operator/businesses/{id}/orders/{order}/return" after_failure::return_for_operator:
        Operator(ChangeBusinesses), Query, AlsoClosed;
    GET "/v1/operator/businesses/{id}/personal-data-erasure" personal_data::latest_of:
        Operator(ReadBusinesses);
    POST "/v1/operator/businesses/{id}/personal-data-erasure" personal_data::erase_all_of:
        Operator(ErasePersonalData), Recent, AlsoClosed;
    // Money, live access and the status.
    PATCH "/v1/operator/businesses/{id}" businesses::change: Operator(ChangeBusinesses), Recent, AlsoClosed;
    // Nothing personal: the contact of the business is elsewhere.
    GET "/v1/operator/businesses/{id}/closing" closing::read_for_operator: Operator(ReadBusinesses);
    POST "/v1/operator/businesses/{id}/closing" closing::begin_for_operator:
        Operator(ChangeBusinesses), Recent;
    DELETE "/v1/operator/businesses/{id}/closing" closing::withdraw_for_operator:
        Operator(ChangeBusinesses), Recent;
    POST "/v1/operator/businesses/{id}/closing/complete" closing::complete:
        Operator(ChangeBusinesses), Recent, AlsoClosed;
    POST "/v1/operator/businesses/{id}/wallet/credits" operator_wallet::credit:
        Operator(CreditWallets), Recent, AlsoClosed;
    POST "/v1/operator/businesses/{id}/wallet/debits" operator_wallet::debit:
        Operator(CreditWallets), Recent, AlsoClosed;
    GET "/v1/operator/businesses/{id}/wallet/entries" statement::entries_for_operator:
        Operator(ReadBusinesses), Query;
    GET "/v1/operator/businesses/{id}/wallet/entries.csv" statement::export_for_operator:
        Operator(ReadBusinesses), Query;
    GET "/v1/operator/businesses/{id}/wallet/entries.xlsx" statement::export_workbook_for_operator:
        Operator(ReadBusinesses), Query;
    GET "/v1/operator/businesses/{id}/wallet/entries/totals" statement::totals_for_operator:
        Operator(ReadBusinesses), Query;
    PUT "/v1/operator/approval-limit" approvals::set_limit: Operator(ManageStaff), Recent;
    POST "/v1/operator/businesses/{id}/password-resets" password_resets::issue:
        Operator(IssuePasswordResets), Recent, AlsoClosed;
    GET "/v1/operator/businesses/{id}/users" users::list_for_operator:
        Operator(ReadUsers), Query, Logged(UsersRead);
    GET "/v1/operator/businesses/{id}/audit-log" audit_log::list_for_operator:
        Operator(ReadUsers), Query, Logged(AuditLogRead);
    // Amounts by order, without the customers.
    GET "/v1/operator/cod" cash::of_all: Operator(ReadCash), Query;
    GET "/v1/operator/cod/discrepancies" cash::discrepancies: Operator(ReadCash), Query;
    GET "/v1/operator/businesses/{id}/cod" cash::of_business_for_operator: Operator(ReadCash), Query;
    PUT "/v1/operator/businesses/{id}/cod/{order}/difference" cash::assign_difference:
        Operator(CreditWallets), AlsoClosed;
    GET "/v1/operator/businesses/{id}/remittances" remittances::list_for_operator: Operator(ReadCash), Query;
    POST "/v1/operator/businesses/{id}/remittances" remittances::create:
        Operator(CreditWallets), Recent, LongBody, AlsoClosed;
    POST "/v1/operator/businesses/{id}/remittances/check" remittances::check:
        Operator(CreditWallets), LongBody, AlsoClosed;
    GET "/v1/operator/businesses/{id}/remittances/{remittance}" remittances::read_for_operator:
        Operator(ReadCash);
    GET "/v1/operator/businesses/{id}/remittances/{remittance}/orders.csv" remittances::export_for_operator:
        Operator(ReadCash);
    // Exports, as those of users. Those of orders have customers' data.
    POST "/v1/operator/businesses/{id}/orders/exports" exports::of_orders_for_operator:
        Operator(ReadOrders), Recent, Query, AlsoClosed;
    POST "/v1/operator/businesses/{id}/cod/exports" exports::of_cash_for_operator:
        Operator(ReadCash), Query, AlsoClosed;
    GET "/v1/operator/exports" exports::list
        as "listExportsOfStaff" "List the own exports, newest first": Operator(ReadCash);
    GET "/v1/operator/exports/{id}" exports::read
        as "readExportOfStaff" "Read the progress of an export": Operator(ReadCash);
    DELETE "/v1/operator/exports/{id}" exports::remove
        as "removeExportOfStaff" "Cancel an export, or delete its file": Operator(ReadCash);
    GET "/v1/operator/exports/{id}/file" exports::file
        as "readExportedFileOfStaff" "Fetch the file of an export. The operator's log names each time":
        Operator(ReadCash), Recent;
    // To request or decide one, the permission of its action is needed too. Only a single one names a user.
    GET "/v1/operator/approvals" approvals::list: Operator(ReviewApprovals), Query;
    GET "/v1/operator/approvals/{id}" approvals::read: Operator(ReviewApprovals), Logged(ApprovalRead);
    POST "/v1/operator/approvals/{id}/approve" approvals::approve: Operator(ReviewApprovals), Recent;
    POST "/v1/operator/approvals/{id}/reject" approvals::reject: Operator(ReviewApprovals);
    POST "/v1/operator/approvals/{id}/withdraw" approvals::withdraw: Operator(ReviewApprovals);
    POST "/v1/operator/approvals/{id}/reset-link" approvals::reset_link: Operator(ReviewApprovals), Recent;
    // The operator's own staff, tokens and log. Handlers log each exported file before they send it.
    GET "/v1/operator/staff" staff::list: Operator(ManageStaff), Query;
    POST "/v1/operator/staff" staff::invite: Operator(ManageStaff), Recent;
    PATCH "/v1/operator/staff/{id}" staff::change: Operator(ManageStaff), Recent;
    DELETE "/v1/operator/staff/{id}" staff::remove: Operator(ManageStaff), Recent;
    DELETE "/v1/operator/staff/{id}/sessions" staff::end_sessions: Operator(ManageStaff);
    DELETE "/v1/operator/staff/{id}/identity" staff::unlink: Operator(ManageStaff), Recent;
    POST "/v1/operator/staff/{id}/password-link" staff::issue_link: Operator(ManageStaff), Recent;
    GET "/v1/operator/tokens" operator_tokens::list: Operator(ManageTokens), Query;
    POST "/v1/operator/tokens" operator_tokens::create: Operator(ManageTokens), Recent;
    POST "/v1/operator/tokens/{id}/rotate" operator_tokens::rotate: Operator(ManageTokens), Recent;
    POST "/v1/operator/tokens/{id}/disable" operator_tokens::disable: Operator(ManageTokens);
    GET "/v1/operator/audit-log" operator_audit_log::list: Operator(ReadAuditLog), Query;
    GET "/v1/operator/audit-log.csv" operator_audit_log::export_csv: Operator(ReadAuditLog), Recent, Query;
    GET "/v1/operator/audit-log.jsonl" operator_audit_log::export_json_lines:
        Operator(ReadAuditLog), Recent, Query;
    // The provider adds parameters of its own.
    POST "/v1/payments/{provider}/webhook" payments::webhook: Anybody(Portal), Query;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The calls of users, with their permission.
    fn of_users() -> impl Iterator<Item = (&'static Call, Permission)> {
        CALLS.iter().filter_map(|call| {
            if let Who::User(permission) = call.who { Some((call, permission)) } else { None }
        })
    }

    #[test]
    fn permissions_to_read_are_for_calls_that_change_nothing() {
        use Permission::{ManageSingleSignOn, ManageUsers, UseAccount};
        for (call, permission) in of_users() {
            let is_for_both = [UseAccount, ManageUsers, ManageSingleSignOn].contains(&permission);
            // An export is a list that is read later.
            let is_for_both = is_for_both || call.path.contains("/exports");
            let reads = permission.to_string().starts_with("read_");
            assert!(is_for_both || reads == (call.method == Method::GET), "{} {}", call.method, call.path);
        }
    }

    #[test]
    fn money_users_and_erasures_have_permissions_of_their_own() {
        for (call, permission) in of_users() {
            let (name, changes) = (format!("{} {}", call.method, call.path), call.method != Method::GET);
            let below = |part: &str| call.path.starts_with(&format!("/v1/portal/{part}"));
            assert_eq!(
                permission == Permission::ManageUsers,
                below("users") || below("invitations"),
                "{name}"
            );
            let money = changes && (below("wallet") || below("subscription"));
            assert_eq!(permission == Permission::ManageMoney, money, "{name}");
            let erasure = changes && call.path.contains("personal-data");
            assert_eq!(permission == Permission::ErasePersonalData, erasure, "{name}");
        }
    }

    #[test]
    fn a_session_of_a_provider_does_nothing_with_the_account_but_confirm_the_address() {
        let of_account = of_users().filter(|(_, permission)| *permission == Permission::UseAccount);
        let allowed: Vec<_> = of_account.filter(|(call, _)| !call.has(Rule::NotSingleSignOn)).collect();
        let paths: Vec<_> =
            allowed.into_iter().map(|(call, _)| call.path.trim_start_matches("/v1/portal/")).collect();
        assert_eq!(paths, ["session", "email-confirmations", "email-confirmations/confirm"]);
    }
}
