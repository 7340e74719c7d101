function shortened(output, context) {
  return output.slice(0, 20);
}
module.exports = { shortened };
