import { createBrowserRouter, Navigate, type RouteObject } from "react-router-dom";
import { GuestOnly } from "./guest-only";
import { NotFound } from "./not-found";
import { PageFailed } from "./page-failed";
import { Part } from "./part";
import { Permitted } from "./permitted";
import { Root } from "./root";
import { Shell } from "./shell";

// Each page is a separate chunk, loaded on demand. Its module exports `Component`.

/** Pages for logged-in users. Pages in the side bar are also in `navigation.ts`, with their permissions. */
const PAGES: RouteObject[] = [
  { index: true, lazy: () => import("../pages/overview/overview-page") },
  { path: "quick-start", lazy: () => import("../pages/overview/quick-start-page") },
  { path: "api-keys", lazy: () => import("../pages/api-keys/api-keys-page") },
  { path: "orders", lazy: () => import("../pages/orders/orders-page") },
  { path: "orders/:orderId", lazy: () => import("../pages/orders/order-page") },
  { path: "exceptions", lazy: () => import("../pages/exceptions/exceptions-page") },
  { path: "events", lazy: () => import("../pages/events/events-page") },
  { path: "webhooks", lazy: () => import("../pages/webhooks/webhooks-page") },
  { path: "webhooks/new", lazy: () => import("../pages/webhooks/new-endpoint-page") },
  { path: "webhooks/deliveries/:deliveryId", lazy: () => import("../pages/webhooks/delivery-page") },
  { path: "webhooks/:endpointId", lazy: () => import("../pages/webhooks/endpoint-page") },
  { path: "subscription", lazy: () => import("../pages/subscription/subscription-page") },
  { path: "pickup-profile", lazy: () => import("../pages/pickup-profile/pickup-profile-page") },
  { path: "account", lazy: () => import("../pages/account/security-page") },
  { path: "account/team", lazy: () => import("../pages/account/team-page") },
  { path: "account/single-sign-on", lazy: () => import("../pages/account/single-sign-on-page") },
  { path: "account/closing", lazy: () => import("../pages/account/closing-page") },
  { path: "account/audit-log", lazy: () => import("../pages/account/audit-log-page") },
  { path: "wallet", lazy: () => import("../pages/wallet/wallet-page") },
  { path: "cash-on-delivery", lazy: () => import("../pages/cash/cash-page") },
  {
    path: "cash-on-delivery/remittances/:remittanceId",
    lazy: () => import("../pages/cash/remittance-page"),
  },
  { path: "exports", lazy: () => import("../pages/exports/exports-page") },
  { path: "*", element: <NotFound home="/" homeLabel="Go to the overview" /> },
];

/** Pages for guests. */
const GUEST_PAGES: RouteObject[] = [
  { path: "/log-in", lazy: () => import("../pages/auth/log-in-page") },
  { path: "/log-in/:businessId", lazy: () => import("../pages/auth/business-log-in-page") },
  { path: "/sign-up", lazy: () => import("../pages/auth/sign-up-page") },
];

/** Pages that links and identity providers open, with or without a session. */
const LINKED_PAGES: RouteObject[] = [
  { path: "/log-in/:businessId/return", lazy: () => import("../pages/auth/business-sso-return-page") },
  { path: "/reset-password", lazy: () => import("../pages/auth/reset-password-page") },
  { path: "/confirm-email", lazy: () => import("../pages/auth/confirm-email-page") },
  { path: "/invitation", lazy: () => import("../pages/auth/invitation-page") },
];

/** The operator console has its own shell and login. */
const OPERATOR_PAGES: RouteObject[] = [
  { index: true, element: <Navigate to="overview" replace /> },
  { path: "overview", lazy: () => import("../pages/operator/overview-page") },
  { path: "businesses", lazy: () => import("../pages/operator/businesses-page") },
  { path: "businesses/:businessId", lazy: () => import("../pages/operator/business-page") },
  { path: "orders", lazy: () => import("../pages/operator/orders-page") },
  { path: "exceptions", lazy: () => import("../pages/operator/exceptions-page") },
  { path: "approvals", lazy: () => import("../pages/operator/approvals-page") },
  { path: "approvals/:approvalId", lazy: () => import("../pages/operator/approval-page") },
  { path: "cash", lazy: () => import("../pages/operator/cash-page") },
  { path: "cash/:businessId", lazy: () => import("../pages/operator/business-cash-page") },
  { path: "exports", lazy: () => import("../pages/operator/exports-page") },
  { path: "staff", lazy: () => import("../pages/operator/staff-page") },
  { path: "account", lazy: () => import("../pages/operator/account-page") },
  { path: "tokens", lazy: () => import("../pages/operator/tokens-page") },
  { path: "audit-log", lazy: () => import("../pages/operator/audit-log-page") },
  { path: "*", element: <NotFound home="/operator/businesses" homeLabel="Go to the businesses" /> },
];

export const router = createBrowserRouter(
  [
    {
      Component: Root,
      ErrorBoundary: PageFailed,
      HydrateFallback: () => null,
      children: [
        {
          element: <Part of="console" />,
          children: [
            { path: "/operator/sso", lazy: () => import("../pages/operator/sso-page") },
            { path: "/operator/password", lazy: () => import("../pages/operator/password-page") },
            {
              path: "/operator",
              lazy: () => import("../pages/operator/operator-shell"),
              children: [{ ErrorBoundary: PageFailed, children: OPERATOR_PAGES }],
            },
          ],
        },
        {
          element: <Part of="portal" />,
          children: [
            { Component: GuestOnly, children: GUEST_PAGES },
            ...LINKED_PAGES,
            {
              path: "/",
              Component: Shell,
              children: [{ ErrorBoundary: PageFailed, Component: Permitted, children: PAGES }],
            },
          ],
        },
      ],
    },
  ],
  { future: { v7_relativeSplatPath: true } },
);
