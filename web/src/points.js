// A layer of round points. deck.gl's own scatterplot draws each point as an instance of a square, which software
// rendering (remote desktops, tests) does far slower; plain points are quick everywhere.

import { Layer, project32 } from "@deck.gl/core";
import { Model } from "@luma.gl/engine";

const block = "layout(std140) uniform pointsUniforms {\n  float diameter;\n  float alpha;\n} points;\n"; // luma.gl reads it line by line
const uniforms = { name: "points", vs: block, fs: block, uniformTypes: { diameter: "f32", alpha: "f32" } };

const vs = `#version 300 es
in vec3 positions;
in vec4 colors;
out vec4 tint;
void main(void) {
  gl_Position = project_position_to_clipspace(positions, vec3(0.0), vec3(0.0), geometry.position);
  gl_PointSize = points.diameter + 1.0;
  tint = vec4(colors.rgb, colors.a * points.alpha);
}`;
const fs = `#version 300 es
precision highp float;
in vec4 tint;
out vec4 fragColor;
void main(void) {
  float size = points.diameter + 1.0, away = length(gl_PointCoord - 0.5) * size;
  float inside = clamp(points.diameter * 0.5 + 0.5 - away, 0.0, 1.0);
  if (inside <= 0.0) discard;
  fragColor = vec4(tint.rgb, tint.a * inside);
}`;

export class PointsLayer extends Layer {
  getShaders() { return super.getShaders({ vs, fs, modules: [project32, uniforms] }); }
  initializeState() {
    const manager = this.getAttributeManager();
    manager.remove(["instancePickingColors", "rowIndexes"]);
    manager.add({
      positions: { size: 3, type: "float32", accessor: "getPosition" },
      colors: { size: 4, type: "unorm8", accessor: "getColor", defaultValue: [0, 0, 0, 255] },
    });
    this.setState({ model: new Model(this.context.device, { ...this.getShaders(), id: this.props.id, topology: "point-list", isInstanced: false, bufferLayout: manager.getBufferLayouts({ isInstanced: false }) }) });
  }
  draw() {
    const { model } = this.state, { radius, alpha } = this.props;
    model.setVertexCount(this.getNumInstances());
    model.shaderInputs.setProps({ points: { diameter: 2 * radius * this.context.device.canvasContext.cssToDeviceRatio(), alpha } });
    if (this.getNumInstances()) model.draw(this.context.renderPass);
  }
}
PointsLayer.layerName = "PointsLayer";
PointsLayer.defaultProps = { getPosition: { type: "accessor", value: [0, 0, 0] }, getColor: { type: "accessor", value: [0, 0, 0, 255] }, radius: 2, alpha: 1 };
