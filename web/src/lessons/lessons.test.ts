import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { GROUPS, SCENES, sceneOf } from "../gallery";
import { LESSONS } from "./index";

describe("gallery", () => {
  it("lists each file once, with its group", () => {
    const files = readdirSync(new URL("../gallery", import.meta.url)).filter((name) => name.endsWith(".toml"));
    expect(SCENES.map((scene) => `${scene.id}.toml`).sort()).toEqual(files.sort());
    for (const scene of SCENES) {
      expect(GROUPS).toContain(scene.group);
      expect(scene.toml).toContain("duration");
    }
  });
});

describe("lessons", () => {
  it("have one right answer per question, and feedback for all", () => {
    for (const lesson of LESSONS) {
      for (const { question } of lesson.steps) {
        if (!question) continue;
        expect(question.choices.filter((choice) => choice.right)).toHaveLength(1);
        for (const choice of question.choices) expect(choice.feedback.length).toBeGreaterThan(20);
      }
    }
  });

  it("use scenes that exist", () => {
    for (const lesson of LESSONS) {
      expect(lesson.steps[0]?.setup?.scene).toBeDefined();
      for (const { setup } of lesson.steps) if (setup?.scene) expect(sceneOf(setup.scene)).toBeDefined();
    }
  });
});
