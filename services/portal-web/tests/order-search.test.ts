// What a search for an order asks the server for.
import { expect, test } from "@playwright/test";
import { spellings } from "../src/api/order-search";

test("a search asks for the text as typed, and then for other spellings", () => {
  expect(spellings("1001")).toEqual(["1001", "#1001"]);
  expect(spellings("#1001")).toEqual(["#1001", "1001"]);
  expect(spellings("web-1")).toEqual(["web-1", "WEB-1", "Web-1", "#web-1"]);
  expect(spellings("# WEB-1")).toEqual(["# WEB-1", "WEB-1", "web-1", "Web-1", "#WEB-1"]);
  expect(spellings("#")).toEqual(["#"]);
});

test("an id is asked for in its own spelling", () => {
  expect(spellings("ORD_01arz3ndektsv4rrffq69g5fav").slice(0, 2)).toEqual([
    "ORD_01arz3ndektsv4rrffq69g5fav",
    "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  ]);
});
