// The order in which the page is drawn.

drawHeader();
drawVerdicts();
drawChooser();
drawTable();
drawIntervals();
drawFront();
drawCaveats();
drawSeries();
drawFloors();
drawRun();
