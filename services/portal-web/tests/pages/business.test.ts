// The business's own settings: its pickup profile, and the plan that it requests.
import { expect, test } from "vitest";
import { operator } from "../support/api";
import { screenshot, visit } from "../support/browser";
import { newBusiness } from "../support/business";
import { fillPickupProfile, heading } from "../support/pages";

test("the pickup profile counts missing fields, and shows each field error of the server at its field", async () => {
  const visitor = await visit();
  const { page } = visitor;
  await newBusiness(visitor, "Fetched here");
  await page.goto("/pickup-profile");
  await page.getByText("Incomplete").waitFor();
  await page.getByText(/of 7 required fields filled in\. Missing: /).waitFor();
  await fillPickupProfile(page);
  await page.getByText("All required fields are filled in. Save the profile.").waitFor();

  // The page accepts this number, and the server rejects it.
  const phone = page.getByRole("textbox", { name: "Phone" });
  await phone.fill("+91 12");
  await page.getByRole("button", { name: "Save profile" }).click();
  await page
    .getByRole("alert")
    .or(phone.and(page.locator("[aria-invalid=true]")))
    .first()
    .waitFor();
  const described = await phone.evaluate((input) =>
    (input.getAttribute("aria-describedby") ?? "")
      .split(" ")
      .map((id) => document.getElementById(id)?.textContent ?? "")
      .join(" "),
  );
  expect(described).toMatch(/phone|number|digits/i);
  expect(await phone.evaluate((input) => input === document.activeElement)).toBe(true);
  await screenshot(page, "pickup-profile-fault");

  await phone.fill("+91 98000 00002");
  await page.getByRole("button", { name: "Save profile" }).click();
  await page.getByText("Complete", { exact: true }).waitFor();
  // The button is disabled now.
  await page.getByRole("heading", { level: 1 }).and(page.locator(":focus")).waitFor();
  await page.reload();
  await page.getByText("Complete. Orders without their own pickup address use this one.").waitFor();
  expect(await page.getByRole("button", { name: "Save profile" }).isDisabled()).toBe(true);
});

test("a plan is requested and replaced by another one, and a change is requested once it is active", async () => {
  const visitor = await visit();
  const { page } = visitor;
  const business = await newBusiness(visitor, "Growing");
  await page.goto("/subscription");
  await heading(page, "Subscription");
  const standing = page.getByRole("status", { name: "Your subscription" });
  await standing.getByText("Required").waitFor();
  await page.getByRole("button", { name: "Request this plan:  Starter" }).click();
  await standing.getByText("Starter").waitFor();
  await page.getByRole("button", { name: "Request this plan:  Growth" }).click();
  await standing.getByText("Growth").waitFor();
  await standing.getByText("Requested", { exact: true }).waitFor();

  await operator("PATCH", `/businesses/${business.id}`, { subscription: "active" });
  await page.reload();
  await standing.getByText("Active", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Change to this plan: Scale" }).click();
  await standing.getByText("You requested a change to Scale.").waitFor();
  await page.getByRole("button", { name: "Keep this plan: Growth" }).click();
  await standing.getByText("No action is needed.").waitFor();
});
